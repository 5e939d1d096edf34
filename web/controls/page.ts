import { child, flash, hintScroll } from '../ui/dom';
import { SHARED, type PageState } from '../state/page-state';
import type { Values } from '../state/control';
import type { Store } from '../state/store';

const THEME = 'eigenscope-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** What the person chose before; the browser may forbid to remember it. */
function remembered(): string | null {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // Then the choice lasts as long as the page.
  }
}

/**
 * Light or dark: as the system says until the button is pressed, which names the theme that it turns to. Paper is
 * light: printing leaves out dark backgrounds.
 */
export function followTheme(repaint: () => void): void {
  const root = document.documentElement;
  const button = child<HTMLButtonElement>(document, '[data-action="theme"]');
  let chosen = remembered();
  let onPaper = false;
  const apply = () => {
    root.dataset.theme = onPaper ? 'light' : (chosen ?? (dark.matches ? 'dark' : 'light'));
    const other = root.dataset.theme === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `${other} theme`);
    repaint();
  };
  button.addEventListener('click', () => {
    chosen = root.dataset.theme === 'dark' ? 'light' : 'dark';
    remember(chosen);
    apply();
  });
  dark.addEventListener('change', apply);
  for (const event of ['beforeprint', 'afterprint'])
    addEventListener(event, ({ type }) => {
      onPaper = type === 'beforeprint';
      apply();
    });
  apply();
}

/** The buttons of one view: reset, copy link, and the sheet of controls that opens on a phone. */
export function wireButtons(page: PageState, view: string): void {
  const root = child(document, `#${view}`);
  const store = page.storeOf(view);
  const announcer = child(document, '#announcer');
  const on = (action: string, act: () => void) => {
    for (const button of root.querySelectorAll(`[data-action="${action}"]`)) button.addEventListener('click', act);
  };
  on('reset', () => store.reset());
  on('root', () => {
    const temperature = Number(Math.sqrt(Number(store.state.head_width)).toPrecision(6));
    store.set({ temperature });
  });
  const copied = (text: string) => {
    announcer.textContent = text;
    for (const button of root.querySelectorAll<HTMLElement>('[data-action="copy"]')) {
      flash(button, text);
    }
  };
  on('copy', () => {
    const seen = figureInView(view);
    const first = root.querySelector('.figure'); // at which a link opens anyway
    const figure = seen === first ? '' : seen?.id.replace('figure-', '');
    const address = new URL(page.addressOf(view, figure, store.carried()), location.href).href;
    navigator.clipboard.writeText(address).then(
      () => copied('Link copied'),
      () => copied('Not allowed: copy it from the address bar'),
    );
  });
  const sheet = root.querySelector<HTMLElement>('.controls');
  if (sheet) wireSheet(sheet, store);
}

/** The figure that is nearest to the middle of the screen. */
function figureInView(view: string): Element | undefined {
  const figures = [...document.querySelectorAll<HTMLElement>(`#${view} .figure:not([hidden])`)];
  const distance = (figure: HTMLElement) => {
    const { top, bottom } = figure.getBoundingClientRect();
    return Math.max(top - innerHeight / 2, innerHeight / 2 - bottom, 0);
  };
  const least = Math.min(...figures.map(distance));
  return figures.find((figure) => distance(figure) === least);
}

/** The sheet leaves the upper part of the screen to the figure whose controls it has. Escape closes it. */
function wireSheet(sheet: HTMLElement, store: Store): void {
  const { name, view } = store;
  const toggle = child(sheet, '[data-action="sheet"]');
  const setOpen = (open: boolean) => {
    sheet.classList.toggle('open', open);
    toggle.setAttribute('aria-expanded', String(open));
  };
  const isOpen = () => sheet.classList.contains('open');
  toggle.addEventListener('click', () => {
    setOpen(!isOpen());
    if (isOpen()) figureInView(name)?.querySelector('.chart')?.scrollIntoView({ block: 'start' });
  });
  // On a wide screen the other controls lie over the figures as the sheet does on a phone.
  const more = sheet.querySelector<HTMLDetailsElement>('.more-controls');
  sheet.addEventListener('keydown', (event) => {
    const opener = isOpen() ? toggle : more?.open && child(more, 'summary');
    if (event.key !== 'Escape' || !opener) return;
    event.preventDefault(); // the chosen head stays
    if (isOpen()) setOpen(false);
    else more?.toggleAttribute('open', false);
    opener.focus();
  });
  const summary = child(toggle, '[data-summary]');
  const summarise = () => {
    summary.textContent = view.summary(store.state);
  };
  store.changed.subscribe(summarise);
  summarise();
}

/**
 * Follows the presets of each figure of a view, and marks the one whose state is the present one. Its sentence stays
 * while the controls move on from it, and says so; where the view began there is none. `ownOf` has the controls that
 * alone concern a figure; undefined where all of its view do.
 */
export function wirePresets(
  page: PageState,
  view: string,
  ownOf: (figure: string) => readonly string[] | undefined = () => undefined,
): void {
  for (const strip of document.querySelectorAll(`#${view} .presets`)) {
    const presets = [...strip.querySelectorAll<HTMLAnchorElement>('a.preset')].map((link) => ({
      link,
      text: child(document, `#${link.dataset.text}`),
      free: link.dataset.free?.split(' ') ?? [],
      ...page.linkOf(link.hash),
    }));
    if (presets.length === 0) continue;
    for (const list of strip.querySelectorAll('ul')) hintScroll(list);
    const store = page.storeOf(presets[0].view);
    const own = ownOf(strip.closest('.figure')?.id.replace('figure-', '') ?? '');
    const foreign = Object.keys(store.view.controls).filter((name) => own && !own.includes(name));
    const kept: readonly string[] = [...SHARED, ...foreign];
    const isPresent = (state: Readonly<Values>, free: readonly string[] = []) =>
      Object.keys(state).every(
        (name) => store.state[name] === state[name] || kept.includes(name) || free.includes(name),
      );
    const hint = child(strip, '.hint');
    let last: HTMLElement | null = null;
    let chosen = presets[0];
    const mark = () => {
      // Several tell of one state: then it is the chosen one.
      const present = presets.filter(({ state, free }) => isPresent(state, free));
      const current = present.includes(chosen) ? chosen : present[0];
      if (current) last = current.text;
      else if (isPresent(store.view.defaults)) last = null;
      for (const preset of presets) {
        if (preset === current) preset.link.setAttribute('aria-current', 'true');
        else preset.link.removeAttribute('aria-current');
        preset.text.hidden = preset.text !== last;
      }
      const folded = current?.link.closest('details');
      if (folded && strip.contains(folded)) folded.open = true;
      hint.hidden = last !== null;
      strip.classList.toggle('said', last !== null);
      strip.classList.toggle('left', !current && last !== null);
    };
    const others = strip.querySelectorAll<HTMLAnchorElement>('a.next');
    for (const link of [...presets.map(({ link }) => link), ...others]) {
      link.addEventListener('click', (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of the browser
        event.preventDefault();
        const hasFocus = document.activeElement === link;
        chosen = presets.find((preset) => preset.link === link) ?? chosen;
        page.follow(link.hash, kept);
        mark();
        strip.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        // A link to the next step goes with its sentence, and the focus would fall to the document.
        const next = strip.querySelector<HTMLElement>('.preset-text p:not([hidden]) a');
        if (hasFocus && link.closest('[hidden]')) next?.focus({ preventScroll: true });
        const chart = strip.closest('.figure')?.querySelector('.chart');
        if (chart) keepInSight(chart);
      });
      link.addEventListener('keydown', (event) => {
        if (event.key !== ' ') return;
        event.preventDefault(); // which would scroll
        link.click();
      });
    }
    store.changed.subscribe(mark);
    mark();
  }
}

/** Milliseconds in which a chart grows to its size after a preset is chosen. */
const GROWING = 1500;

/** Brings a chart's picture into sight, while it grows too: on a phone a preset's sentence pushes it down. */
function keepInSight(chart: Element): void {
  const sizes = new ResizeObserver(() => chart.querySelector('svg')?.scrollIntoView({ block: 'nearest' }));
  sizes.observe(chart);
  setTimeout(() => sizes.disconnect(), GROWING);
}

/** What takes the Escape key for itself. */
const OWN_ESCAPE = 'input, select, textarea';

/** Escape releases the chosen head wherever the focus is, but in a field. */
export function wireEscape(page: PageState): void {
  addEventListener('keydown', (event) => {
    const isTaken = event.defaultPrevented || (event.target as Element).matches?.(OWN_ESCAPE);
    if (event.key === 'Escape' && !isTaken) page.storeOf(page.view).set({ head: '' });
  });
}

/** The skip link moves the focus and leaves the address, which holds the state, alone. */
export function wireSkipLink(): void {
  const link = child<HTMLAnchorElement>(document, '.skip');
  link.addEventListener('click', (event) => {
    event.preventDefault();
    child(document, link.hash).focus();
  });
}
