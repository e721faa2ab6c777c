import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../../../../test/support/until.ts';
import { createLateSync } from './blob-store.ts';

describe('late sync', () => {
  it('waits for a quiet moment, then syncs each file once', async () => {
    const synced: string[] = [];
    const lateSync = createLateSync({ idleMs: 400, sync: async (path) => void synced.push(path) });
    for (const path of ['a', 'b', 'a', 'c']) {
      lateSync.note(path);
      await sleep(10);
    }
    expect(synced).to.deep.equal([]);
    await until('all are synced', () => synced.length >= 3);
    expect(synced).to.deep.equal(['b', 'a', 'c']);
  });

  it('syncs files that are written during a sync, and later ones', async () => {
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
    await until('what came meanwhile is synced', () => synced.length >= 2);
    lateSync.note('later');
    await until('the later one is synced', () => synced.length >= 3);
    expect(synced).to.deep.equal(['first', 'meanwhile', 'later']);
  });

  it('ignores a file that was removed', async () => {
    const lateSync = createLateSync({ idleMs: 1 });
    lateSync.note(join(import.meta.dirname, 'no-such-file'));
    await sleep(30);
  });
});
