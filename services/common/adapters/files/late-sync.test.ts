import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLateSync } from './late-sync.ts';

describe('late sync', () => {
  it('waits for a quiet moment, then syncs each file once', async () => {
    const synced: string[] = [];
    const lateSync = createLateSync({ idleMs: 40, sync: async (path) => void synced.push(path) });
    for (const path of ['a', 'b', 'a', 'c']) {
      lateSync.note(path);
      await sleep(10);
    }
    expect(synced).to.deep.equal([]);
    await sleep(80);
    expect(synced).to.deep.equal(['b', 'a', 'c']);
  });

  it('takes in what is written while it syncs, and begins anew afterwards', async () => {
    const synced: string[] = [];
    const lateSync = createLateSync({
      idleMs: 5,
      async sync(path) {
        synced.push(path);
        if (path === 'first') lateSync.note('meanwhile');
        await sleep(1);
      },
    });
    lateSync.note('first');
    await sleep(50);
    lateSync.note('later');
    await sleep(50);
    expect(synced).to.deep.equal(['first', 'meanwhile', 'later']);
  });

  it('makes nothing of a file that is gone', async () => {
    const lateSync = createLateSync({ idleMs: 1 });
    lateSync.note(join(import.meta.dirname, 'no-such-file'));
    await sleep(30);
  });
});
