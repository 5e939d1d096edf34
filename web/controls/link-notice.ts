import type { Link } from '../state/link';
import type { PageState } from '../state/page-state';
import { plainText, quoted } from '../state/described';
import type { Views } from '../state/view';
import { child } from '../ui/dom';
import { figuresOf } from '../ui/registry';

/** Problems of one kind that are listed before the others are only counted. */
const MOST = 5;

function listed(texts: readonly string[]): string {
  const others = texts.length - MOST;
  return texts.slice(0, MOST).join(', ') + (others > 0 ? ` and ${others} more` : '');
}

function shown(text: string): string {
  return `“${quoted(text)}”`;
}

/** What a link says that the page does not follow, in sentences; '' for nothing. */
function problemsOf({ view, figure, unknown, repeated, refused }: Link, views: Views): string {
  const { title, controls } = views[view];
  const wrong = [...refused].map(([name, text]) => `${plainText(controls[name].label)} ${shown(text)}`);
  const sentences = [
    figure && !figuresOf(view).some(({ id }) => id === figure) && `${title} has no figure ${shown(figure)}.`,
    unknown.length > 0 && `Unknown in a link to ${title}: ${listed(unknown.map(shown))}.`,
    repeated.length > 0 && `Given more than once, the first is used: ${listed(repeated.map(shown))}.`,
    wrong.length > 0 && `Not allowed, the current value is kept: ${listed(wrong)}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

/**
 * Says at the top of the page what is wrong with a link, until it is closed or another one is read. Returns the
 * function that says something there.
 */
export function wireLinkNotice(state: PageState): (message: string) => void {
  const place = child(document, '[data-link-notice]');
  const text = child(place, 'span');
  const say = (message: string) => {
    text.textContent = message;
    place.hidden = message === '';
  };
  child(place, 'button').addEventListener('click', () => say(''));
  state.read.subscribe((link) => {
    const problems = problemsOf(link, state.views);
    say(
      link.isOld
        ? 'This link was made by an earlier version of the page and is not supported. ' +
            'The page begins with its defaults.'
        : problems && `Parts of this link are not applied. ${problems}`,
    );
  });
  return say;
}
