import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** In a process of its own, where the hooks stay. */
async function printed(script: string): Promise<unknown> {
  const flags = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: HERE });
  return JSON.parse(stdout);
}

describe('loading', () => {
  it('answers questions about media types, though the library is not loaded before the first', async () => {
    const script = `
      import { createRequire } from 'node:module';
      import { shortenLoading } from './loading.mjs';
      shortenLoading();
      const require = createRequire(process.cwd() + '/x.js');
      const { default: Koa } = await import('koa');
      const loaded = () => Object.keys(require.cache).filter((file) => file.includes('mime-db')).length;
      const before = loaded();
      const koa = new Koa();
      const server = koa.use((context) => {
        context.type = 'json';
        context.body = JSON.stringify([context.is('urlencoded'), context.accepts('html', 'json')]);
      }).listen(0, '127.0.0.1', async () => {
        const response = await fetch('http://127.0.0.1:' + server.address().port, {
          method: 'POST',
          body: new URLSearchParams({ a: 'b' }),
          headers: { accept: 'application/json' },
        });
        const type = response.headers.get('content-type');
        console.log(JSON.stringify({ before, type, body: await response.json(), later: loaded() > 0 }));
        process.exit();
      });`;
    expect(await printed(script)).to.deep.equal({
      before: 0,
      type: 'application/json; charset=utf-8',
      body: ['urlencoded', 'json'],
      later: true,
    });
  });
});
