/**
 * Builds the page of the graph into `dist/`, one self-contained file, with `{{data}}` left for the server to fill.
 * `--check` builds into memory and exits 1 when the committed file is not what the sources give.
 */
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { writeGenerated } from '../common/kernel/generated-files.ts';
import { workerPlugin } from './worker-plugin.ts';

async function buildPage(name: string): Promise<string> {
  const folder = new URL(`./pages/${name}/`, import.meta.url);
  const bundled = await build({
    entryPoints: [new URL('main.ts', folder).pathname],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    plugins: [workerPlugin],
  });
  // A closing tag inside the code would end the script element.
  const script = (bundled.outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script').trim();
  const style = readFileSync(new URL('style.css', folder), 'utf8').trim();
  const page = readFileSync(new URL('page.html', folder), 'utf8');
  return page.replace('{{style}}', () => style).replace('{{script}}', () => script);
}

const page = await buildPage('graph');
process.exitCode = writeGenerated(new Map([['services/console/dist/graph.html', page]]), process.argv[2]);
