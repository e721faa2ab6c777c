import { expect } from 'chai';
import { COGNIFY_JOB } from '../../services/cognify/model.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { signUp } from '../support/accounts.ts';
import { required } from '../support/auth-service.ts';
import { runCommand } from '../support/run-command.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';

const NO_RUNS = { maxConcurrentRuns: 0 };
const ERROR = { name: 'CorruptStoreError', message: 'the job lacks userId' };

describe('jobs that failed for good', () => {
  let world: TwoReplicas;
  before(async () => {
    world = await startTwoReplicas({ runs: [NO_RUNS, NO_RUNS] });
    await world.one.wire.post('/add', { data: 'Ada met Grace.', datasetName: 'notes' });
  });
  after(() => world[Symbol.asyncDispose]());

  const cli = (...args: readonly string[]) => runCommand([...args, '--url', world.one.baseUrl]);

  /** A run whose job was given up. */
  async function deadRun(dataset = 'notes'): Promise<{ readonly jobId: string; readonly runId: string }> {
    const { json } = await world.one.wire.post('/cognify', { datasets: [dataset], run_in_background: true });
    const [{ pipeline_run_id: runId }] = Object.values(json) as [{ pipeline_run_id: string }];
    const job = await world.workQueue.claim(SYSTEM_SCOPE, [COGNIFY_JOB], 'worker', 60_000);
    if (job === null) throw new Error('no job to claim');
    await world.workQueue.fail(job, ERROR, { retry: false });
    return { jobId: job.id, runId };
  }

  async function statusOf(runId: string): Promise<string> {
    const { json } = await world.two.wire.get('/activity/pipeline-runs?limit=100');
    return json.find((row: { pipeline_run_id: string }) => row.pipeline_run_id === runId).status;
  }

  it('are listed in pages, shown, and replayed on request', async () => {
    const made = [await deadRun(), await deadRun(), await deadRun()];
    const first = await world.two.wire.get('/activity/jobs?limit=2');
    expect(first.json.jobs).to.have.length(2);
    const next = encodeURIComponent(first.json.next);
    const second = await world.two.wire.get(`/activity/jobs?limit=2&after=${next}`);
    const jobs = [...first.json.jobs, ...second.json.jobs];
    expect(second.json.next).to.equal(null);
    expect(jobs.map(({ id }) => id)).to.deep.equal(made.map(({ jobId }) => jobId));
    expect(jobs[0]).to.include({
      kind: COGNIFY_JOB,
      pipeline_run_id: made[0]?.runId,
      attempts: 1,
      error_class: ERROR.name,
      error_message: ERROR.message,
    });
    expect(jobs[0]).to.not.have.property('payload');

    const listed = await cli('jobs', 'list');
    expect(listed).to.include({ code: 0, err: '' });
    expect(listed.out.trim().split('\n')).to.have.length(4);
    expect(listed.out).to.contain(made[2]?.jobId).and.contain('CorruptStoreError: the job lacks userId');
    const shown = await cli('jobs', 'show', made[1]?.jobId ?? '');
    expect(JSON.parse(shown.out).payload).to.include({ runId: made[1]?.runId });

    const ids = made.map(({ jobId }) => jobId);
    expect((await cli('jobs', 'replay', ...ids)).out).to.equal(ids.map((id) => `${id} queued again\n`).join(''));
    expect(await world.workQueue.depth(SYSTEM_SCOPE)).to.deep.equal({ [COGNIFY_JOB]: 3 });
    expect((await cli('jobs')).out).to.equal('no job has failed for good\n');
    expect(await cli('jobs', 'replay', ids[0] ?? '')).to.deep.include({ code: 1, out: '' });
  });

  it('end their run when they are discarded', async () => {
    while (await world.workQueue.claim(SYSTEM_SCOPE, [COGNIFY_JOB], 'other', 60_000)); // of the test before
    const other = await world.one.wire.post('/add', { data: 'Ada met Alan.', datasetName: 'others' });
    expect(other.status).to.equal(200);
    const { jobId, runId } = await deadRun('others');
    expect(await statusOf(runId)).to.equal('DATASET_PROCESSING_STARTED');
    expect(await cli('jobs', 'discard', jobId)).to.include({ code: 0, out: `${jobId} discarded\n` });
    expect(await statusOf(runId)).to.equal('DATASET_PROCESSING_ERRORED');
    expect(await cli('jobs', 'discard', jobId)).to.include({ code: 1 });
    expect((await cli('jobs', 'show', jobId)).err).to.contain('(404)');
  });

  it('answer 404 for unknown ids and 400 for invalid queries', async () => {
    expect(await cli('jobs', 'replay')).to.include({ code: 2 });
    expect(await cli('jobs', 'burn', 'x')).to.include({ code: 2 });
    for (const path of ['/activity/jobs/none', '/activity/jobs/none/replay']) {
      const answer = path.endsWith('replay') ? await world.one.wire.post(path, {}) : await world.one.wire.get(path);
      expect(answer.status).to.equal(404);
    }
    expect((await world.one.wire.get('/activity/jobs?limit=0')).status).to.equal(400);
    expect((await world.one.wire.get('/activity/jobs?after=nonsense')).status).to.equal(400);
  });

  it('are for superusers only', async () => {
    await using closed = await startTwoReplicas({ auth: { posture: required }, runs: [NO_RUNS, NO_RUNS] });
    const { wire, baseUrl } = closed.one;
    expect((await wire.get('/activity/jobs')).status).to.equal(401);
    const { wire: user } = await signUp(baseUrl, 'ada');
    const answers = [
      await user.get('/activity/jobs'),
      await user.get('/activity/jobs/x'),
      await user.post('/activity/jobs/x/replay', {}),
      await user.remove('/activity/jobs/x'),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([403, 403, 403, 403]);
  });
});
