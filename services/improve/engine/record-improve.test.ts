import { expect } from 'chai';
import { ADA, NOTES as DATASET } from '../../../test/support/ada.ts';
import { unsignedPrincipals } from '../../../test/support/unsigned-principals.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import { createMessenger } from '../../common/platform/messaging/messenger.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { recordPipeline } from '../stages/record-pipeline.ts';
import type { ImproveResult } from './improve-result.ts';
import { recordImprove } from './record-improve.ts';

const IDLE = { pipeline: 'memify_pipeline', runId: '00000000-0000-4000-8000-0000000000aa' };
const RESULT: ImproveResult = {
  dataset: DATASET,
  sessionIds: ['s1'],
  stages: [],
  rerunPasses: [],
  background: false,
  finished: true,
  failure: null,
  rerunRequested: false,
};

/** The records of an improve that ends with `end`, one run of which is recorded later. */
async function recordedEnds(end: () => ImproveResult): Promise<readonly RequestOf<'cognify.RecordRun'>[]> {
  const messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
  const requests: RequestOf<'cognify.RecordRun'>[] = [];
  await messenger.serve('cognify.RecordRun', async (request) => {
    requests.push(request);
    return {};
  });
  const context = { requestId: 'test', principal: ADA };
  const improve = { id: 'improve-1', dataset: DATASET, background: false, sessionIds: ['s1'], context };
  await recordImprove({ messenger, logger: createSilentLogger() }, improve, async (idleRuns) => {
    idleRuns.push(IDLE);
    return end();
  }).catch(() => null);
  // On a slow machine its start was recorded by itself.
  return requests.filter(({ status }) => status !== 'DATASET_PROCESSING_STARTED');
}

describe('recording an improve', () => {
  it('records unchanged runs together with its end', async () => {
    const [ended, ...others] = await recordedEnds(() => RESULT);
    expect(others).to.deep.equal([]);
    expect(ended).to.deep.include({ status: 'DATASET_PROCESSING_COMPLETED', completedBefore: [IDLE] });
  });

  it('records unchanged runs when it failed too', async () => {
    const failed = () => {
      throw engramError('CogneeSystemError', 'It broke.');
    };
    for (const end of [failed, () => ({ ...RESULT, failure: engramError('CogneeSystemError', 'No.') })]) {
      const [ended] = await recordedEnds(end);
      expect(ended).to.deep.include({ status: 'DATASET_PROCESSING_ERRORED', completedBefore: [IDLE] });
    }
  });

  it('records unchanged runs before a run that is recorded at once, so that the order stays', async () => {
    for (const then of ['changed', 'fails'] as const) {
      const messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
      const recorded = new Set<string>();
      await messenger.serve('cognify.RecordRun', async ({ runId, status, completedBefore = [] }) => {
        if (status === 'DATASET_PROCESSING_STARTED') return {};
        for (const before of completedBefore) recorded.add(before.runId);
        recorded.add(runId);
        return {};
      });
      const context = { requestId: 'test', principal: ADA };
      const improve = { id: 'improve-1', dataset: DATASET, background: false, sessionIds: [], context };
      let count = 0;
      const deps = {
        messenger,
        clock: createSystemClock(),
        ids: { ...createIdSource(), uuid: () => `run-${++count}` },
      };
      await recordImprove({ messenger, logger: createSilentLogger() }, improve, async (idleRuns) => {
        const pass = { dataset: DATASET, context, signal: new AbortController().signal, idleRuns };
        await recordPipeline(deps, pass, async () => 'unchanged');
        await recordPipeline(deps, pass, async () => {
          if (then === 'fails') throw new Error('no');
          return 'changed';
        }).catch(() => null);
        return RESULT;
      });
      expect([...recorded]).to.deep.equal(['run-1', 'run-2', 'improve-1']);
    }
  });
});
