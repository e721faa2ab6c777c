/** Makes the files of the console with esbuild, once per version of its sources. Why: ../decisions/0018-the-console-is-made-on-first-use.md */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { workerPlugin } from './worker-plugin.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/engram');
/** The console of an image, whose sources do not change: they are not compared with it. */
const FIXED = join(ROOT, 'node_modules/.cache/console');
/** The console of an installed package, which has no sources. */
const PACKAGED = join(ROOT, 'dist/console');
const SOURCES = ['services/console/app', 'services/console/pages/graph', 'services/client'];
const PAGE = 'page.html';

export interface ConsoleFiles {
  /** The page, with `{{nonce}}` left to fill in. */
  readonly page: string;
  /** Compressed files by name; a name changes with the content. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

/** Returns the files of the console; makes them when the sources have changed. Rejects where that is impossible. */
export async function consoleFiles(cache = CACHE): Promise<ConsoleFiles> {
  if (!existsSync(join(ROOT, 'services/console/app'))) return await read(PACKAGED);
  if (existsSync(FIXED)) return await read(FIXED);
  const folder = join(cache, `bundle-console-${await contentName()}`);
  if (existsSync(folder)) return await read(folder);
  const files = await make();
  // In memory it serves as well: a folder that cannot be written costs the next start the same work.
  await save(files, folder, cache).catch(() => undefined);
  return files;
}

/** Makes the console of an image if it is missing. */
export async function makeFixedConsole(): Promise<void> {
  if (!existsSync(FIXED)) await save(await make(), FIXED, CACHE);
}

export async function makePackagedConsole(): Promise<void> {
  await rm(PACKAGED, { recursive: true, force: true });
  await save(await make(), PACKAGED, CACHE);
}

async function contentName(): Promise<string> {
  const hash = createHash('sha256');
  const names = await Promise.all(
    SOURCES.map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((name) => join(folder, name)),
    ),
  );
  const files = names.flat().filter((name) => /\.(tsx?|css|svg|html)$/.test(name));
  for (const name of [
    'package-lock.json',
    'services/console/bundle.ts',
    'services/console/worker-plugin.ts',
    ...files.sort(),
  ]) {
    hash.update(`${name}\0`).update(await readFile(join(ROOT, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function make(): Promise<ConsoleFiles> {
  const esbuild = await import('esbuild');
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: ['services/console/app/main.tsx'],
    absWorkingDir: ROOT,
    outdir: 'out',
    publicPath: '/assets',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    plugins: [workerPlugin],
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'silent',
  });
  // It is a process of its own.
  await esbuild.stop();
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const [main] = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint?.endsWith('app/main.tsx'));
  if (main === undefined) throw new Error('esbuild made no main file');
  const [path, { cssBundle, imports }] = main;
  const early = imports.filter(({ kind }) => kind === 'import-statement').map((file) => nameOf(file.path));
  const compressed = await Promise.all(
    outputFiles.map(
      async ({ path, contents }) => [nameOf(path), await promisify(gzip)(contents, { level: 9 })] as const,
    ),
  );
  const assets = new Map(compressed);
  const icon = [...assets.keys()].find((name) => name.endsWith('.svg'));
  const template = await readFile(join(ROOT, 'services/console/app/page.html'), 'utf8');
  const page = template
    .replace('{{icon}}', icon ?? '')
    .replace('{{style}}', nameOf(cssBundle ?? ''))
    .replace('{{script}}', nameOf(path))
    .replace('{{early}}', early.map((name) => `<link rel="modulepreload" href="/assets/${name}">`).join('\n'));
  return { page, assets };
}

/** Writes beside the place and renames: other starts find all of it or nothing. */
async function save({ page, assets }: ConsoleFiles, folder: string, cache: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'bundle-draft-'));
  try {
    for (const [name, content] of assets) await writeFile(join(draft, `${name}.gz`), content);
    await writeFile(join(draft, PAGE), page);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another start may have been quicker.
    if (!existsSync(folder)) throw error;
  }
}

async function read(folder: string): Promise<ConsoleFiles> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.gz'));
  const assets = await Promise.all(
    names.map(async (name) => [name.slice(0, -'.gz'.length), await readFile(join(folder, name))] as const),
  );
  return { page: await readFile(join(folder, PAGE), 'utf8'), assets: new Map(assets) };
}
