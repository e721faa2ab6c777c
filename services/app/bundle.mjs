// Makes one program of the services, their workers and the packages that each start needs: a start then reads few files in
// place of a thousand. Why and how fast: ../decisions/0017-a-bundle-made-by-the-first-start.md
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'services/main.ts');
const CACHE = join(ROOT, 'node_modules/.cache/engram');
/** The bundle of an image, whose sources do not change: they are not compared with it. */
const FIXED = join(ROOT, 'node_modules/.cache/bundle');
/** The bundle of an installed package, which has no sources (`npm pack`). */
const PACKAGED = join(ROOT, 'dist/server');
const UNUSED_AFTER_MS = 7 * 24 * 60 * 60 * 1000;
/** `new URL('./parse-task.ts', import.meta.url)`: a module that a thread or process starts with. */
const WORKER_URL = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g;
/** Packages that each start needs, bundled with what they need themselves. Others are loaded from node_modules on use. */
const BUNDLED = [
  '@bufbuild/protobuf',
  '@koa/router',
  'fastest-levenshtein',
  'koa',
  'pino',
  'prom-client',
  'stemmer',
  'zod',
];

/** Returns the URL of the main module: bundled, or the source where no bundle can be made (no esbuild, a read-only folder). */
export async function mainModule(cache = CACHE) {
  if (!existsSync(MAIN)) return pathToFileURL(join(PACKAGED, 'main.mjs')).href;
  const folder = existsSync(FIXED) ? FIXED : join(cache, bundleName());
  try {
    if (!existsSync(folder)) await makeBundle(folder, cache);
    return pathToFileURL(join(folder, 'main.mjs')).href;
  } catch {
    return pathToFileURL(MAIN).href;
  }
}

/** Makes the bundle and the console of an image if they are missing, and loads all of it, so that its compiled code is saved. */
export async function makeFixedBundle() {
  if (!existsSync(FIXED)) await makeBundle(FIXED, CACHE);
  await (await import('../console/bundle.ts')).makeFixedConsole();
  const workerFiles = namingSources().workers.map((file) => basename(file, '.ts'));
  for (const file of readdirSync(FIXED)) {
    if (!workerFiles.includes(basename(file, '.mjs'))) await import(pathToFileURL(join(FIXED, file)).href);
  }
}

/** Makes the bundle and the console of a package, which may be installed anywhere. */
export async function makePackagedBundle() {
  rmSync(PACKAGED, { recursive: true, force: true });
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  await makeBundle(PACKAGED, CACHE, { anywhere: true });
  await (await import('../console/bundle.ts')).makePackagedConsole();
}

/** Returns a name that changes with any source. As in Git, sizes and times of change stand for the contents: reading takes longer. */
function bundleName() {
  const hash = createHash('sha256').update(ROOT);
  const sources = ['services', 'proto/gen'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((file) => /\.(ts|mjs)$/.test(file) && !file.endsWith('.test.ts'))
      .map((file) => join(folder, file)),
  );
  for (const file of ['package.json', 'package-lock.json', ...sources.sort()]) {
    const { size, mtimeMs, ctimeMs } = statSync(join(ROOT, file));
    hash.update(`${file}\0${size}\0${mtimeMs}\0${ctimeMs}\0`);
  }
  return `bundle-${hash.digest('hex').slice(0, 16)}`;
}

/** Writes the bundle beside its place and renames it: other starts find all of it or nothing. */
async function makeBundle(folder, cache, { anywhere = false } = {}) {
  const esbuild = await import('esbuild');
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { sources, workers } = namingSources();
  mkdirSync(cache, { recursive: true });
  removeUnused(cache);
  const draft = mkdtempSync(join(cache, 'bundle-draft-'));
  try {
    await esbuild.build({
      entryPoints: ['services/main.ts', ...workers],
      absWorkingDir: ROOT,
      outdir: draft,
      entryNames: '[name]',
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      logLevel: 'silent',
      // One copy of the register of media types in place of three.
      alias: { 'mime-types': 'mime-types' },
      // esbuild makes the console when a browser first asks for it.
      external: ['esbuild', ...Object.keys(dependencies).filter((name) => !BUNDLED.includes(name))],
      plugins: [moduleUrls(sources, anywhere ? folder : null), lessToLoad],
      banner: { js: requireForPackages(anywhere ? 'import.meta.url' : JSON.stringify(MAIN)) },
    });
    // It is a process of its own.
    await esbuild.stop();
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another start may have been quicker.
    if (!existsSync(folder)) throw error;
  }
}

/** Packages in CommonJS call `require`, which modules do not have. */
const requireForPackages = (place) =>
  "import { createRequire as createBundleRequire } from 'node:module';" +
  `const require = createBundleRequire(${place});`;

/** Lists the sources that name other files: workers, which become files of their own beside the main one, and data. */
function namingSources() {
  const sources = globSync('services/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts', '**/*.fixture.ts'] })
    .map((file) => ({ path: join(ROOT, file), text: readFileSync(join(ROOT, file), 'utf8') }))
    .filter(({ text }) => text.includes('import.meta.url'));
  const workers = sources.flatMap(({ path, text }) =>
    [...text.matchAll(WORKER_URL)].map(([, name]) => join(path, '..', `${name}.ts`)),
  );
  return { sources, workers: [...new Set(workers)].filter((file) => existsSync(file)) };
}

/** Workers are looked for beside the bundle, other files where the source is: seen from `folder`, unless that is null. */
function moduleUrls(sources, folder) {
  const names = new RegExp(`(^|[\\\\/])(${sources.map(({ path }) => basename(path, '.ts')).join('|')})\\.ts$`);
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  return {
    name: 'module URLs',
    setup(build) {
      build.onLoad({ filter: names }, ({ path }) => {
        const own =
          folder === null
            ? JSON.stringify(pathToFileURL(path).href)
            : `new URL(${JSON.stringify(relative(folder, path).replaceAll('\\', '/'))}, import.meta.url).href`;
        const contents = texts
          .get(path)
          ?.replace(WORKER_URL, "new URL('./$1.mjs', import.meta.url)")
          .replace(/(?<!new URL\('\.\/[\w-]+\.mjs', )import\.meta\.url/g, own);
        return contents === undefined ? undefined : { loader: 'ts', contents };
      });
    },
  };
}

/** Leaves out what would be a fifth of each start: parts that packages load and no start uses. */
const lessToLoad = {
  name: 'less to load',
  setup(build) {
    // An import makes Node evaluate all exports of http, its own fetch client among them. TLS comes with the first request.
    build.onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({ path, namespace: 'builtin' }));
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: path.endsWith('s')
        ? `module.exports = new Proxy({}, { get: (_, name) => process.getBuiltinModule('https')[name] });`
        : `module.exports = process.getBuiltinModule('http');`,
    }));
    // One of the 50 languages of zod.
    build.onResolve({ filter: /^\.\.\/locales\/index\.js$/ }, ({ resolveDir }) => ({
      path: join(resolveDir, '../locales/en.js'),
    }));
  },
};

/** Removes bundles of a week ago. Younger ones stay: a process loads parts of its bundle as long as it runs. */
function removeUnused(cache) {
  for (const name of readdirSync(cache).filter((one) => one.startsWith('bundle-'))) {
    const folder = join(cache, name);
    const { mtimeMs = Date.now() } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > UNUSED_AFTER_MS) rmSync(folder, { recursive: true, force: true });
  }
}
