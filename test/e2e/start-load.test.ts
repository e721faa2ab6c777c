import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { makeDataDir, startProcess } from '../support/engram-process.ts';

/** Runs before the service and prints at its end what its main thread has loaded: files by their URL, Node's own by name. */
const REPORT = `
  import { isMainThread } from 'node:worker_threads';
  import module from 'node:module';
  const files = new Set();
  if (isMainThread) {
    module.registerHooks({ load(url, context, next) { files.add(url); return next(url, context); } });
    process.on('exit', () => process._rawDebug('LOADED ' + JSON.stringify([...files, ...process.moduleLoadList])));
  }`;

async function loadedByStart(): Promise<readonly string[]> {
  const data = makeDataDir();
  const server = await startProcess({
    dataDir: data.path,
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT)}` },
  });
  await server.stop();
  data.remove();
  const line = server
    .output()
    .split('\n')
    .find((text) => text.startsWith('LOADED '));
  const loaded = JSON.parse(line?.slice('LOADED '.length) ?? '[]') as string[];
  return loaded.flatMap((name) => [name, ...bundledIn(name)]);
}

/** Lists the modules of a file of the bundle: each stands under a comment with its path. */
function bundledIn(url: string): readonly string[] {
  if (!url.startsWith('file:') || !url.includes('/.cache/')) return [];
  return [...readFileSync(fileURLToPath(url), 'utf8').matchAll(/^ *\/\/ (\S+\.[jt]s)$/gm)].map(([, path = '']) => path);
}

/** The start has 350 ms; each of these once took 20 to 60 of them. */
describe('what an idle service has loaded', () => {
  let loaded: readonly string[];

  before(async () => {
    loaded = await loadedByStart();
  });

  it('is the service', () => {
    expect(loaded.filter((url) => url.includes('services/common/platform/http/'))).to.have.length.greaterThan(20);
    expect(loaded.filter((url) => /\.cache\/engram\/bundle-\w+\/main\.mjs$/.test(url))).to.have.length(1);
    expect(loaded).to.include('NativeModule _http_server');
  });

  it('holds nothing that only some requests need', () => {
    const late = ['/jose/', '/web-tree-sitter/', '/file-type/', '/unpdf/', '/linkedom/', '/wink-', '/ai/'];
    const native = ['NativeModule internal/deps/undici/undici', 'NativeModule tls', 'NativeModule https'];
    const found = loaded.filter(
      (name) => native.includes(name) || late.some((part) => name.includes(`/node_modules${part}`)),
    );
    expect(found).to.deep.equal([]);
  });

  it('leaves the languages of zod and the extraction rules alone', () => {
    const found = loaded.filter(
      (url) => /\/zod\/v4\/locales\/(?!en\.js)/.test(url) || url.includes('/extraction/rules/extract-by-rules'),
    );
    expect(found).to.deep.equal([]);
  });
});
