/**
 * Builds the web pages into `dist/`, one self-contained file each, with `{{data}}` left for the server to fill.
 * `--check` builds into memory and exits 1 when the committed file is not what the sources give.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { workerPlugin } from './worker-plugin.ts';

const PAGES = ['graph'];

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

let stale = false;
for (const name of PAGES) {
  const target = new URL(`./dist/${name}.html`, import.meta.url);
  const page = await buildPage(name);
  if (process.argv.includes('--check')) {
    const committed = readFileSync(target, 'utf8');
    if (committed !== page) {
      process.stderr.write(`services/console/dist/${name}.html is stale: npm run generate\n`);
      stale = true;
    }
  } else {
    mkdirSync(new URL('./dist/', import.meta.url), { recursive: true });
    writeFileSync(target, page);
  }
}
process.exitCode = stale ? 1 : 0;
