import { defineConfig } from 'vite';
import { partials } from './web/plugins/partials.mts';
import { engineFactory } from './web/plugins/engine-factory.mts';
import { leanPlot } from './web/plugins/lean-plot.mts';
import { policy } from './web/plugins/policy.mts';
import { shippedFiles } from './web/plugins/shipped-files.mts';
import { singleFile } from './web/plugins/single-file.mts';

// Two builds into dist/: index.html with its assets for any static host, and, in mode `single`,
// eigenscope.html with everything inside, which a browser opens from the disk.
export default defineConfig(({ mode }) => {
  const single = mode === 'single';
  return {
    root: 'web',
    base: './',
    plugins: [
      partials(),
      engineFactory(),
      shippedFiles(single),
      leanPlot(),
      single ? singleFile('eigenscope.html') : policy(),
    ],
    build: {
      outDir: '../dist',
      emptyOutDir: !single,
      target: 'es2022',
      // Colours are written with light-dark(), which every browser that runs the engine knows.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      assetsInlineLimit: single ? Number.MAX_SAFE_INTEGER : 0,
      // The script of the other chapters is asked for beside its styles, not after them.
      modulePreload: { polyfill: false },
      // A page from the disk may load no second script.
      rolldownOptions: { output: { codeSplitting: !single } },
      chunkSizeWarningLimit: 1200,
    },
    worker: { format: 'iife' as const, plugins: () => [engineFactory()] },
  };
});
