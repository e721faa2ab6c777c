import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { trackedRun } from './tracked-run.ts';

describe('tracked run', () => {
  const run = {
    id: 'run',
    pipeline: 'add_pipeline',
    principal: { id: asId('u') } as Principal,
    dataset: { id: asId('d') } as DatasetRef,
    context: { requestId: 'test' },
  };
  /** Takes records as cognify does; the first ones it refuses are lost. */
  const recorder = (refused = 0) => {
    const statuses: string[] = [];
    let calls = 0;
    const call = async (_method: unknown, { status }: RequestOf<'cognify.RecordRun'>) => {
      calls += 1;
      if (calls <= refused) throw new Error('the store is busy');
      await sleep(5);
      statuses.push(status.replace('DATASET_PROCESSING_', ''));
      return {};
    };
    return { statuses, messenger: { call } as unknown as Messenger };
  };
  const slow = async () => {
    await sleep(230);
    return { result: 7, items: ['a'] };
  };

  it('records short work once, when it is over', async () => {
    const { statuses, messenger } = recorder();
    expect(await trackedRun(messenger, run, async () => ({ result: 7, items: [] }))).to.equal(7);
    await sleep(230);
    expect(statuses).to.deep.equal(['COMPLETED']);
  });

  it('records the start of work that takes longer, before its end', async () => {
    const { statuses, messenger } = recorder();
    expect(await trackedRun(messenger, run, slow)).to.equal(7);
    expect(statuses).to.deep.equal(['STARTED', 'COMPLETED']);
  });

  it('does not fail work whose start could not be recorded', async () => {
    const { statuses, messenger } = recorder(1);
    expect(await trackedRun(messenger, run, slow)).to.equal(7);
    expect(statuses).to.deep.equal(['COMPLETED']);
  });

  it('records the failure of work and passes it on', async () => {
    const { statuses, messenger } = recorder();
    const failing = trackedRun(messenger, run, () => Promise.reject(new Error('broken')));
    expect(await failing.catch((error: Error) => error.message)).to.equal('broken');
    expect(statuses).to.deep.equal(['ERRORED']);
  });
});
