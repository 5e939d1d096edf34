import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

/**
 * Packages of which Observable Plot imports more than the page's figures use, and the names that they use. Only what a
 * figure has to ask for may be left out: the schemes that scales of colours have unasked may not, as empty ones have them too.
 */
const USED: Readonly<Record<string, readonly string[]>> = {
  'd3-delaunay': [],
  'd3-geo': [],
  'd3-random': [],
  'd3-scale-chromatic': ['interpolateTurbo', 'schemeObservable10'],
  'd3-shape': ['area', 'curveLinear', 'line', 'symbolCircle', 'symbolDiamond', 'symbolTimes', 'symbolTriangle'],
  'd3-time': [],
  'd3-time-format': [],
  isoformat: [],
};
const PREFIX = '\0lean-plot:';

/** Modules of Plot itself that no figure uses: the page has its own tips and legends. */
const UNUSED =
  /\/@observablehq\/plot\/src\/((?:marks\/tip|interactions\/pointer|legends|marker|projection|time|scales\/(?:diverging|temporal))\.js)$/;
/** What charts call in modules that are left out, as for a chart without legend, projection and markers. */
const CALLED: Readonly<Record<string, string>> = {
  applyGroupedMarkers: '() => {}',
  applyMarkers: '() => {}',
  createLegends: '() => []',
  createProjection: '() => undefined',
  exposeLegends: '() => () => {}',
  hasProjection: '() => false',
  markers: '() => {}',
  projectionAspectRatio: '() => undefined',
};

/** Constants of the schemes of colours: calls that a bundler must take for pure to leave out those without a user. */
const SCHEME = /^var (\S+) = ((?:colors|ramp(?:\$1)?|new Array|interpolateCubehelixLong|cubehelix\$1|rgb)\([^]*?);$/gm;

/** The module in place of a package: whatever uses a name that is left out fails. */
function moduleOf(name: string, path: string, exported: readonly string[]): string {
  const used = USED[name] ?? [];
  const others = exported.filter((it) => !used.includes(it) && !(it in CALLED));
  const called = exported.filter((it) => it in CALLED).map((it) => `export const ${it} = ${CALLED[it]};`);
  return `
    function fail() {
      throw new Error('the page is built without this part of ${name}: see USED in web/plugins/lean-plot.mts');
    }
    const leftOut = /* @__PURE__ */ new Proxy(fail, { get: fail, apply: fail, construct: fail });
    export { ${used.join()} } from ${JSON.stringify(path)};
    ${called.join(' ')}
    export { ${others.map((it) => `leftOut as ${it}`).join()} };
  `;
}

/**
 * Leaves projections of maps, triangulations, random numbers, dates, markers, tips, legends, and most curves, symbols and
 * schemes of colours out of the page: Observable Plot refers to them, and no figure uses them.
 */
export function leanPlot(): Plugin {
  return {
    name: 'eigenscope-lean-plot',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer) {
      const isOfPlot = source.startsWith('.') && /\/@observablehq\/plot\//.test(importer ?? '');
      if (!isOfPlot && !Object.hasOwn(USED, source)) return null;
      const whole = await this.resolve(source, importer, { skipSelf: true });
      if (!isOfPlot) return whole && `${PREFIX}${source}:${whole.id}`;
      const [, name] = UNUSED.exec(whole?.id ?? '') ?? [];
      return name ? `${PREFIX}${name}:${whole!.id}` : null;
    },
    transform(code, id) {
      if (!id.includes('/d3-scale-chromatic/')) return null;
      return { code: code.replace(SCHEME, 'var $1 = /* @__PURE__ */ (() => $2)();'), map: null };
    },
    async load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const [, name, path] = /^([\w./-]+):(.*)$/.exec(id.slice(PREFIX.length))!;
      return moduleOf(name, path, Object.keys((await import(pathToFileURL(path).href)) as object));
    },
  };
}
