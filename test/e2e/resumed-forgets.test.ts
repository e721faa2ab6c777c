import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { jobsCollection } from '../../services/common/platform/jobs/job-document.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { DELETION_JOB } from '../../services/ingest/forgetting/deletion-job.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';
import type { Answer, Wire } from '../support/wire.ts';

const TEXT = 'Ada met Charles in Turin.';
/** Longer than any lease. */
const LATER_MS = 120_000;

describe('what was begun to be forgotten when the process was killed', () => {
  it('is forgotten to the end by another replica, whichever commit of an item it was killed before', async () => {
    await using world = await startWorld();
    await world.killedBeforeEach(async ({ datasetId, dataId }, wire) => wire.post('/forget', { datasetId, dataId }), {
      async isEnded({ datasetId }) {
        return (await world.two.wire.get(`/datasets/${datasetId}/data`)).json.length === 0;
      },
    });
  });

  it('is forgotten to the end, whichever commit of a dataset it was killed before', async () => {
    await using world = await startWorld();
    await world.killedBeforeEach(async ({ datasetId }, wire) => wire.remove(`/datasets/${datasetId}`), {
      isEnded: async () => (await world.two.wire.get('/datasets')).json.length === 0,
    });
  });

  it('can be built again when only the memory of it was to go, whichever commit the process was killed before', async () => {
    await using world = await startWorld();
    for (let count = 0, isAnswered = false; !isAnswered; count += 1) {
      const dataset = `notes-${count}`;
      world.messages.letAnswer(1);
      const { datasetId } = await addAndBuild(world.two.wire, dataset);
      isAnswered = await world.isAnsweredBefore(count, async (wire) =>
        wire.post('/forget', { datasetId, memoryOnly: true }),
      );
      const again = await world.two.wire.post('/cognify', { datasets: [dataset] });
      expect(again.status, again.text).to.equal(200);
      expect(await found(world.two.wire, dataset), `killed before commit ${count}`).to.deep.equal([TEXT]);
      world.goAhead();
      await until('no work left', async () => (await world.begun()) === 0);
      // What was built after the request to forget is another memory, and stays.
      if (again.json[datasetId].payload.documents === 0) {
        expect((await world.two.wire.post('/cognify', { datasets: [dataset] })).status).to.equal(200);
      }
      expect(await found(world.two.wire, dataset), `after the end, killed before ${count}`).to.deep.equal([TEXT]);
      world.revive();
    }
  });

  it('is forgotten to the end when only the memory of it was to go, and the items stay', async () => {
    await using world = await startWorld();
    for (let count = 0, isAnswered = false; !isAnswered; count += 1) {
      const dataset = `notes-${count}`;
      world.messages.letAnswer(1);
      const { datasetId } = await addAndBuild(world.two.wire, dataset);
      isAnswered = await world.isAnsweredBefore(count, async (wire) =>
        wire.post('/forget', { datasetId, memoryOnly: true }),
      );
      const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(datasetId));
      if (!isAnswered && (await world.begun()) === 0) {
        expect(await found(world.two.wire, dataset), 'nothing was begun').to.deep.equal([TEXT]);
      } else {
        world.goAhead();
        await until(`the end of what was cut off before commit ${count}`, async () => (await world.begun()) === 0);
        const [records, passages, graphRows, blobs] = await remains(world, scope);
        expect([records, passages, graphRows], `killed before commit ${count}`).to.deep.equal([1, 0, 0]);
        expect(blobs).to.be.greaterThan(0);
      }
      world.revive();
    }
  });
});

interface Added {
  readonly datasetId: string;
  readonly dataId: string;
}

interface Checks {
  isEnded(added: Added): Promise<boolean>;
}

async function startWorld() {
  let aheadMs = 0;
  const system = createSystemClock();
  const clock = { ...system, now: () => new Date(system.now().getTime() + aheadMs) };
  const world = await startTwoReplicas({ clock, ingestPollMs: 20 });
  const { one, two, messages } = world;
  const { commit } = one.store;
  /** Asks replica one, which dies before that commit. It stays dead until `revive`, and the other answers all. */
  const isAnsweredBefore = async (count: number, ask: (wire: Wire) => Promise<Answer>): Promise<boolean> => {
    let left = count;
    const dying: typeof commit = async (...call) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      return commit(...call);
    };
    messages.letAnswer(0);
    Object.assign(one.store, { commit: dying });
    const { status } = await ask(one.wire);
    messages.letAnswer(1);
    return status === 200;
  };
  const revive = () => Object.assign(one.store, { commit });
  const begun = () => world.store.count(SYSTEM_SCOPE, jobsCollection, { kind: DELETION_JOB });
  const goAhead = () => {
    aheadMs += LATER_MS;
  };
  return {
    ...world,
    isAnsweredBefore,
    revive,
    begun,
    goAhead,
    /** Asks for every n replica one, which dies before its n-th commit; what it leaves, the other has to end by itself. */
    async killedBeforeEach(forget: (added: Added, wire: Wire) => Promise<Answer>, { isEnded }: Checks) {
      for (let count = 0, isAnswered = false; !isAnswered; count += 1) {
        messages.letAnswer(1);
        const added = await addAndBuild(two.wire, `notes-${count}`);
        isAnswered = await isAnsweredBefore(count, (wire) => forget(added, wire));
        const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.datasetId));
        if ((await begun()) === 0 && !(await isEnded(added))) {
          expect(await found(two.wire, `notes-${count}`), 'nothing was begun').to.deep.equal([TEXT]);
          expect(await forget(added, two.wire)).to.include({ status: 200 });
        }
        goAhead();
        await until(`the end of what was cut off before commit ${count}`, () => isEnded(added));
        await until('no work left', async () => (await begun()) === 0);
        expect(await remains(world, scope), `killed before commit ${count}`).to.deep.equal([0, 0, 0, 0]);
        revive();
      }
    },
  };
}

async function addAndBuild(wire: Wire, datasetName: string): Promise<Added> {
  const added = await wire.post('/add', { data: TEXT, datasetName });
  expect(added.status, added.text).to.equal(200);
  expect(added.json.data_ingestion_info[0].run_info.status).to.equal('PipelineRunCompleted');
  expect((await wire.post('/cognify', { datasets: [datasetName] })).status).to.equal(200);
  expect(await found(wire, datasetName)).to.deep.equal([TEXT]);
  return { datasetId: added.json.dataset_id, dataId: added.json.data_ingestion_info[0].data_id };
}

async function found(wire: Wire, dataset: string): Promise<readonly string[]> {
  const [{ search_result: rows }] = (
    await wire.post('/search', { query: 'Turin', searchType: 'CHUNKS_LEXICAL', datasets: [dataset] })
  ).json;
  return rows.map(({ text }: { readonly text: string }) => text);
}

/** Records, rows of passages, rows of the graph, blobs. */
async function remains(
  { store, indexes, blobs }: Pick<TwoReplicas, 'store' | 'indexes' | 'blobs'>,
  scope: ReturnType<typeof datasetScope>,
): Promise<readonly number[]> {
  const { nodeRows, edgeRows } = await indexes.graph.count(scope);
  return [
    await store.count(scope, dataItemsCollection, {}),
    await indexes.text.count(scope, {}),
    nodeRows + edgeRows,
    (await blobs.list(scope, { limit: 9 })).length,
  ];
}
