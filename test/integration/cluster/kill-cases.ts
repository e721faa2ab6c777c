import { expect } from 'chai';
import { createClient } from '../../bench/speed/client.ts';
import { startApp } from '../../support/start-app.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';
import { historyOf } from './run-history.ts';

interface KillCaseOptions {
  readonly datasets: number;
  /** Rounds of add and cognify for each dataset, at least; every round adds one text. */
  readonly rounds: number;
  readonly killEveryMs: number;
  /** Rounds go on until so many workers were killed, however fast the machine is. */
  readonly minKills: number;
  readonly timeoutMs: number;
}

interface LogLine {
  readonly event?: string;
  readonly runId?: string;
  readonly datasetId?: string;
  readonly time?: string;
}

const PEOPLE = ['Ada Lovelace', 'Charles Babbage', 'Mary Somerville', 'Augustus De Morgan', 'Michael Faraday'];
const PLACES = ['London', 'Cambridge', 'Turin', 'Edinburgh'];

function textOf(dataset: number, round: number): string {
  const at = dataset + round;
  const [one, other] = [PEOPLE[at % PEOPLE.length], PEOPLE[(at + 2) % PEOPLE.length]];
  const place = PLACES[at % PLACES.length];
  return `${one} met ${other} in ${place} in ${1830 + at}. ${one} wrote letter ${dataset}-${round} about the Analytical Engine. ${other} answered from ${place}.`;
}

/**
 * Two replicas of every service, cognify's workers killed with -9 again and again: the same cases in a short form and in a
 * long one for `npm run test:soak`.
 */
export function describeClusterKills(options: KillCaseOptions): void {
  describe(`cognify workers killed every ${options.killEveryMs} ms`, function () {
    this.timeout(options.timeoutMs);
    let cluster: ClusterProcess;
    let kills = 0;
    let worked: readonly (readonly string[])[] = [];
    const started = (): ReadonlySet<string> => new Set(worked.flat());

    before(async () => {
      cluster = await startCluster(
        { REQUIRE_AUTHENTICATION: 'false', ENABLE_BACKEND_ACCESS_CONTROL: 'false' },
        { replicas: 2 },
      );
      const over = new AbortController();
      const killing = killWorkers(cluster, options.killEveryMs, over.signal, () => {
        kills += 1;
      });
      const names = Array.from({ length: options.datasets }, (_, index) => index);
      const isEnough = (rounds: number) => rounds >= options.rounds && kills >= options.minKills;
      worked = await Promise.all(names.map((index) => work(cluster, index, isEnough)));
      over.abort();
      await killing;
      await untilEnded(cluster.baseUrl, started());
    });
    after(() => cluster?.stop());

    it('lose no run: each that was acknowledged ends, and once', async () => {
      expect(kills).to.be.at.least(options.minKills);
      const completions = Map.groupBy(linesOf(cluster, 'run.completed'), ({ runId }) => runId ?? '');
      const records = await historyOf(createClient(cluster.baseUrl));
      for (const run of started()) {
        expect(records.get(run), `history of ${run}: ${logOf(cluster, run)}`).to.deep.equal(HISTORY);
        // The line is written after the commit; a worker killed between the two leaves none.
        expect(completions.get(run)?.length ?? 0, `log lines of ${run}`).to.be.at.most(1);
      }
    });

    it('leave one writer to a dataset at any time', () => {
      const events = [...linesOf(cluster, 'run.claimed'), ...linesOf(cluster, 'run.completed')].toSorted((one, other) =>
        (one.time ?? '').localeCompare(other.time ?? ''),
      );
      for (const [dataset, lines] of Map.groupBy(events, ({ datasetId }) => datasetId)) {
        const ended = new Set<string | undefined>();
        let current: string | undefined;
        for (const { event, runId } of lines) {
          if (event === 'run.completed') {
            ended.add(runId);
            current = undefined;
          } else {
            // A worker that was killed after its commit says nothing: what follows shows that the run is over.
            expect(ended.has(runId), `${runId} of ${dataset} claimed after its end`).to.equal(false);
            if (current !== undefined && current !== runId) ended.add(current);
            current = runId;
          }
        }
      }
    });

    it('end in the graphs of an undisturbed run', async () => {
      const calm = await startApp();
      try {
        for (const [index, runs] of worked.entries()) {
          const data = runs.map((_, round) => textOf(index, round));
          await post(calm.baseUrl, '/add', { datasetName: nameOf(index), data });
          await post(calm.baseUrl, '/cognify', { datasets: [nameOf(index)] });
          expect(await graphOf(cluster.baseUrl, nameOf(index))).to.deep.equal(
            await graphOf(calm.baseUrl, nameOf(index)),
          );
        }
      } finally {
        await calm.stop();
      }
    });
  });
}

/** Of a run that ended once, newest first. */
const HISTORY = ['DATASET_PROCESSING_COMPLETED', 'DATASET_PROCESSING_STARTED'];

/** The router is away for so long only when the cluster itself has ended. */
const PATIENCE_MS = 60_000;

const nameOf = (index: number): string => `letters-${index}`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** At these times, and not before something was claimed again since the last kill. */
async function killWorkers(
  cluster: ClusterProcess,
  everyMs: number,
  signal: AbortSignal,
  count: () => void,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    const claimed = linesOf(cluster, 'run.claimed').length;
    await pause(everyMs);
    // On a machine where a start takes longer than that, nobody would ever get to work.
    while (!signal.aborted && linesOf(cluster, 'run.claimed').length === claimed) await pause(100);
    const pids = cluster.pidsOf('cognify');
    const pid = pids[turn % Math.max(1, pids.length)];
    if (signal.aborted || pid === undefined) continue;
    process.kill(pid, 'SIGKILL');
    count();
  }
}

/** Rounds of adding a text and starting a run, until it is enough; a run's id for each. What got no answer is repeated. */
async function work(
  { baseUrl }: ClusterProcess,
  dataset: number,
  isEnough: (rounds: number) => boolean,
): Promise<readonly string[]> {
  const runs: string[] = [];
  for (let round = 0; !isEnough(round); round += 1) {
    await untilDone(() => post(baseUrl, '/add', { datasetName: nameOf(dataset), data: [textOf(dataset, round)] }));
    const answer = await untilDone(() =>
      post<Record<string, { readonly pipeline_run_id: string }>>(baseUrl, '/cognify', {
        datasets: [nameOf(dataset)],
        runInBackground: true,
      }),
    );
    const [run] = Object.values(answer);
    if (run === undefined) throw new Error(`no run of ${nameOf(dataset)} was acknowledged`);
    runs.push(run.pipeline_run_id);
  }
  return runs;
}

async function untilDone<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  let deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isAnswered = error instanceof Refused;
      if ((isAnswered && error.status < 500) || Date.now() > deadline) throw error;
      if (isAnswered) deadline = Date.now() + PATIENCE_MS;
      await pause(200);
    }
  }
}

class Refused extends Error {
  readonly status: number;
  constructor(path: string, status: number, body: string) {
    super(`${path}: ${status} ${body}`);
    this.status = status;
  }
}

async function post<Answer = unknown>(baseUrl: string, path: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${baseUrl}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Refused(path, response.status, text);
  return JSON.parse(text) as Answer;
}

async function get<Answer>(baseUrl: string, path: string): Promise<Answer> {
  const response = await fetch(`${baseUrl}/api/v1${path}`);
  if (!response.ok) throw new Refused(path, response.status, await response.text());
  return (await response.json()) as Answer;
}

async function datasetId(baseUrl: string, name: string): Promise<string> {
  const all = await get<readonly { readonly id: string; readonly name: string }[]>(baseUrl, '/datasets');
  const found = all.find((dataset) => dataset.name === name);
  if (found === undefined) throw new Error(`there is no dataset ${name}`);
  return found.id;
}

/** Nobody has to ask for anything again: workers find by themselves what others left. */
async function untilEnded(baseUrl: string, runs: ReadonlySet<string>): Promise<void> {
  const client = createClient(baseUrl);
  for (;;) {
    const history = await untilDone(() => historyOf(client));
    if ([...runs].every((run) => (history.get(run)?.length ?? 0) >= HISTORY.length)) return;
    await pause(300);
  }
}

interface WireGraph {
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly type: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly label: string }[];
}

/** By names: ids of documents are random. */
async function graphOf(baseUrl: string, name: string) {
  const graph = await get<WireGraph>(baseUrl, `/datasets/${await datasetId(baseUrl, name)}/graph`);
  const isRandom = (type: string) => type === 'TextDocument' || type === 'TextSummary' || type === 'DocumentChunk';
  const names = new Map(graph.nodes.map(({ id, label, type }) => [id, isRandom(type) ? type : `${type} ${label}`]));
  return {
    nodes: [...names.values()].sort(),
    edges: graph.edges.map(({ source, label, target }) => `${names.get(source)} ${label} ${names.get(target)}`).sort(),
  };
}

function logOf(cluster: ClusterProcess, run: string): string {
  return cluster
    .output()
    .split('\n')
    .filter((line) => line.includes(run))
    .join('\n');
}

function linesOf(cluster: ClusterProcess, event: string): readonly LogLine[] {
  return cluster
    .output()
    .split('\n')
    .filter((line) => line.includes(`"${event}"`))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as LogLine];
      } catch {
        return [];
      }
    })
    .filter((line) => line.event === event);
}
