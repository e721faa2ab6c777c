import { expect } from 'chai';
import { createSilentLogger } from '../common/platform/observability/logger.ts';
import { createConsole } from './console.ts';

describe('console', () => {
  it('says what to do where it cannot be made, and tries again', async () => {
    let tries = 0;
    const pages = createConsole(createSilentLogger(), async () => {
      tries += 1;
      if (tries < 3) throw new Error('Cannot find package esbuild');
      return { page: 'nonce="{{nonce}}"', assets: new Map() };
    });
    const missing = await pages.page('/');
    expect(missing.status).to.equal(503);
    expect(missing.text).to.include('npm ci');
    expect((await pages.asset('main.js', {})).status).to.equal(404);
    const made = await pages.page('/ask');
    expect(made.status).to.equal(200);
    const [, nonce] = /nonce="(\S{20,})"/.exec(made.text ?? '') ?? [];
    expect(made.headers?.['content-security-policy']).to.include(`'nonce-${nonce}'`);
    expect((await pages.page('/ask')).text, 'another one each time').to.not.equal(made.text);
    expect((await pages.page('/nowhere')).status).to.equal(404);
  });
});
