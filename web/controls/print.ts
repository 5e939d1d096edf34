import { child } from '../ui/dom';
import type { Runner } from '../ui/runner';

/**
 * Paper has all views. The button starts those that have not begun, computes what was not looked at yet and then prints;
 * the browser's own command prints the figures that there are.
 */
export function wirePrint(start: () => Promise<unknown>, runners: () => readonly Runner[]): void {
  const button = child<HTMLButtonElement>(document, '[data-action="print"]');
  const announcer = child(document, '#announcer');
  const lay = (onPaper: boolean) => {
    document.documentElement.classList.toggle('printing', onPaper);
    for (const details of document.querySelectorAll<HTMLDetailsElement>('details.folded')) {
      details.dataset.open ??= String(details.open);
      details.dataset.group ??= details.name; // of a group only one can be open
      details.name = onPaper ? '' : details.dataset.group;
      details.open = onPaper || details.dataset.open === 'true';
      if (onPaper) continue;
      delete details.dataset.open;
      delete details.dataset.group;
    }
    for (const runner of runners()) runner.drawNow();
  };
  addEventListener('beforeprint', () => lay(true));
  addEventListener('afterprint', () => lay(false));
  button.addEventListener('click', () => {
    button.disabled = true;
    announcer.textContent = 'Computing all figures for printing.';
    const finish = async () => {
      await start();
      await Promise.all(runners().map((runner) => runner.finish()));
      print();
    };
    void finish().finally(() => {
      button.disabled = false;
      announcer.textContent = '';
    });
  });
}
