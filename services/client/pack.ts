/**
 * Makes the package `engram-client` in a folder: one ES module, its types, and a package.json. `npm pack` or `npm publish`
 * takes it from there. Usage: node services/client/pack.ts [folder]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import engram from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = fileURLToPath(new URL('./', import.meta.url));

/** Nothing of Node is used, so that the same file runs in browsers; the two small packages that it needs are inside. */
async function bundle(folder: string): Promise<void> {
  await build({
    entryPoints: [join(SOURCE, 'index.ts')],
    outfile: join(folder, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: ['es2022'],
    legalComments: 'inline',
  });
}

async function declare(folder: string): Promise<void> {
  const types = join(folder, 'types');
  await rm(types, { recursive: true, force: true });
  const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false'];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--allowImportingTsExtensions'];
  const target = ['--target', 'es2024', '--lib', 'esnext', '--module', 'nodenext', '--types', 'node'];
  const places = ['--rootDir', SOURCE, '--outDir', types];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--ignoreConfig', ...options, ...strict, ...target, ...places, join(SOURCE, 'index.ts')];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`tsc ended with ${code}`);
  for (const file of await readdir(types, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(join(types, file), 'utf8');
    await writeFile(join(types, file), text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  }
}

async function describe(folder: string): Promise<void> {
  const { version, license } = engram;
  const manifest = {
    name: 'engram-client',
    version,
    license,
    type: 'module',
    sideEffects: false,
    description: 'Typed client of the Engram API, for Node and browsers.',
    engines: { node: '>=20.3' },
    exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
    files: ['index.js', 'types', 'README.md'],
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(folder, 'README.md'), await readFile(join(SOURCE, 'README.md'), 'utf8'));
}

const folder = resolve(process.argv[2] ?? join(ROOT, 'node_modules/.cache/engram-client'));
await mkdir(folder, { recursive: true });
await Promise.all([bundle(folder), declare(folder), describe(folder)]);
process.stdout.write(`${folder}\n`);
