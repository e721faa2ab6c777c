import type { Plugin } from 'esbuild';

/** `import { source } from './file.ts?worker'` gives the bundled text of a worker, which a page starts from a blob. */
export const workerPlugin: Plugin = {
  name: 'worker',
  setup({ onResolve, onLoad, esbuild }) {
    onResolve({ filter: /\?worker$/ }, ({ path, resolveDir }) => ({
      path: new URL(path.replace(/\?worker$/, ''), `file://${resolveDir}/`).pathname,
      namespace: 'worker',
    }));
    onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => {
      const bundled = await esbuild.build({
        entryPoints: [path],
        bundle: true,
        write: false,
        minify: true,
        format: 'iife',
        target: 'es2022',
        legalComments: 'none',
      });
      return { contents: `export const source = ${JSON.stringify(bundled.outputFiles[0]?.text)}` };
    });
  },
};
