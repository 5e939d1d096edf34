import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

/**
 * Packages of which Observable Plot imports more than the page's figures use, and the names that they use. Only what a
 * figure has to ask for may be left out: the schemes that scales of colours have unasked may not, as empty ones have them too.
 */
const USED: Readonly<Record<string, readonly string[]>> = {
  'd3-delaunay': [],
  'd3-geo': ['geoPath', 'geoTransform'],
  'd3-random': [],
  'd3-scale-chromatic': ['interpolateTurbo', 'schemeObservable10'],
  'd3-shape': ['area', 'curveLinear', 'line', 'symbolCircle', 'symbolDiamond', 'symbolTimes', 'symbolTriangle'],
  'd3-time-format': [],
};
const PREFIX = '\0lean-plot:';

/** The module in place of a package: whatever uses a name that is left out fails. */
function moduleOf(name: string, path: string, exported: readonly string[]): string {
  const others = exported.filter((it) => !USED[name].includes(it));
  return `
    function fail() {
      throw new Error('the page is built without this part of ${name}: see USED in web/plugins/lean-plot.mts');
    }
    const leftOut = /* @__PURE__ */ new Proxy(fail, { get: fail, apply: fail, construct: fail });
    export { ${USED[name].join()} } from ${JSON.stringify(path)};
    export { ${others.map((it) => `leftOut as ${it}`).join()} };
  `;
}

/**
 * Leaves projections of maps, triangulations, random numbers, dates, and most curves, symbols and schemes of colours out of the page: Observable Plot refers to them,
 * and no figure uses them.
 */
export function leanPlot(): Plugin {
  return {
    name: 'eigenscope-lean-plot',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!Object.hasOwn(USED, source)) return null;
      const whole = await this.resolve(source, importer, { skipSelf: true });
      return whole && `${PREFIX}${source}:${whole.id}`;
    },
    async load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const [, name, path] = /^([\w-]+):(.*)$/.exec(id.slice(PREFIX.length))!;
      return moduleOf(name, path, Object.keys((await import(pathToFileURL(path).href)) as object));
    },
  };
}
