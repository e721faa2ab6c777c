import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { ConfigurationError } from '../common/platform/config/load-config.ts';
import { shareDescriptors } from './descriptors.ts';

describe('shareDescriptors', () => {
  it('gives files and connections no more together than there are', () => {
    for (const maxOpenFiles of [96, 128, 256, 1024, 4096]) {
      const { openFiles, maxConnections } = shareDescriptors({ maxOpenFiles });
      expect(openFiles).to.be.within(1, 64);
      expect(maxConnections).to.be.greaterThan(9);
      expect(64 + 7 * openFiles + maxConnections).to.be.lessThan(maxOpenFiles);
    }
  });

  it('refuses a limit under which no thread could be started', () => {
    expect(() => shareDescriptors({ maxOpenFiles: 95 })).to.throw(ConfigurationError, 'may open 95 files');
  });

  it('fails the check of health when hardly a descriptor is free', () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { shareDescriptors } from '${new URL('./descriptors.ts', import.meta.url)}';
      const healthy = { status: 'healthy', provider: 'test', details: '' };
      const { check } = shareDescriptors({}).guardedHealth({ critical: true, check: async () => healthy });
      const say = (result) => result.then(({ status }) => status, ({ message }) => message);
      const before = await say(check());
      const opened = [];
      try { for (;;) opened.push(openSync('/dev/null')); } catch {}
      const full = await say(check());
      closeSync(opened.pop());
      closeSync(opened.pop());
      const almost = await say(check());
      for (const descriptor of opened) closeSync(descriptor);
      console.log(JSON.stringify([before, full, almost, await say(check())]));`;
    const command = `ulimit -n 128 && exec "${process.execPath}" --input-type=module --eval "$0"`;
    const [before, full, almost, after] = JSON.parse(
      execFileSync('sh', ['-c', command, script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    expect([before, after]).to.deep.equal(['healthy', 'healthy']);
    for (const reason of [full, almost]) expect(reason).to.match(/^12\d of 128 file descriptors are in use$/);
  });
});
