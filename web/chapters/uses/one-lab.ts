import { child } from '../../ui/dom';

/** Shows one lab at a time, the first unless a link has opened another, and marks its card. */
export function showOneLab(): void {
  const labs = [...document.querySelectorAll<HTMLDetailsElement>('#uses .labs > details')];
  for (const lab of labs) {
    const card = child(document, `.lab-cards a[href="#${child(lab, '.figure').id}"]`);
    const mark = () => {
      if (lab.open) card.setAttribute('aria-current', 'true');
      else card.removeAttribute('aria-current');
    };
    lab.addEventListener('toggle', mark);
    lab.name = 'lab'; // the browser closes the others of a name
  }
  if (!labs.some(({ open }) => open)) labs[0].open = true;
}
