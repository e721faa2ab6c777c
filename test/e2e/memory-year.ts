import { expect } from 'chai';
import { processCpuTimeMs } from '../support/cpu-time.ts';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';

interface YearOptions {
  readonly sessions: number;
  readonly turnsPerSession: number;
  /** During improve, at moments spread over the sessions. */
  readonly kills: number;
  readonly timeoutMs: number;
}

const PEOPLE = ['Ada Lovelace', 'Charles Babbage', 'Mary Somerville', 'Michael Faraday', 'Augustus De Morgan'];
const PLACES = ['London', 'Cambridge', 'Turin', 'Edinburgh'];
const DATASET = 'year';

/** Few facts, asked about again and again: what a year of an agent is made of. The token tells the turn apart. */
function turn(session: number, index: number) {
  const person = PEOPLE[(session + index) % PEOPLE.length];
  const place = PLACES[index % PLACES.length];
  const token = `turn${session}x${index}`;
  return {
    token,
    question: `Where did ${person} work? (${token})`,
    answer: `${person} worked in ${place}.`,
    feedback_score: index % 5 === 0 ? 5 : null,
  };
}

interface Improved {
  readonly status: string;
  readonly stages: readonly { readonly stage: string; readonly status: string; readonly error: string | null }[];
}

interface Year {
  /** Processor time, which a busy machine does not stretch. */
  readonly improveMs: readonly number[];
  /** Entities after each session. */
  readonly entities: readonly number[];
  /** How often each turn stands in the documents that sessions became. */
  readonly found: ReadonlyMap<string, number>;
  readonly kills: number;
  readonly errors: readonly string[];
}

async function live({ sessions, turnsPerSession, kills }: YearOptions): Promise<Year> {
  const data = makeDataDir();
  const environment = { IMPROVE_AUTO_ENABLED: 'false' };
  const start = () => startProcess({ dataDir: data.path, environment });
  let server = await start();
  const improveMs: number[] = [];
  const entities: number[] = [];
  const errors: string[] = [];
  let killed = 0;
  try {
    for (let session = 0; session < sessions; session += 1) {
      const id = `session-${session}`;
      for (let index = 0; index < turnsPerSession; index += 1) {
        const { question, answer, feedback_score } = turn(session, index);
        const entry = { type: 'qa', question, answer, feedback_score };
        await post(server, '/remember/entry', { entry, dataset_name: DATASET, session_id: id });
      }
      const request = { dataset_name: DATASET, session_ids: [id] };
      if (killed < Math.floor(((session + 1) * kills) / sessions)) {
        killed += 1;
        const cut = post(server, '/improve', request).catch(() => null);
        // Early, in the middle or late in what an improve takes.
        await new Promise((resolve) => setTimeout(resolve, [15, 60, 120, 250][killed % 4]));
        await server.kill();
        await cut;
        server = await start();
      }
      const cpuBefore = processCpuTimeMs(server.pid);
      const { stages } = await post<Improved>(server, '/improve', request);
      improveMs.push(processCpuTimeMs(server.pid) - cpuBefore);
      for (const { stage, error } of stages) if (error !== null) errors.push(`session ${session}, ${stage}: ${error}`);
      entities.push(await entityCount(server));
    }
    return { improveMs, entities, errors, kills: killed, found: await turnsFound(server, sessions, turnsPerSession) };
  } finally {
    await server.stop();
    data.remove();
  }
}

export function describeYear(options: YearOptions): void {
  const turns = options.sessions * options.turnsPerSession;
  describe(`a year of use: ${options.sessions} sessions, ${turns} turns, ${options.kills} kills during improve`, function () {
    this.timeout(options.timeoutMs);
    let year: Year;
    before(async () => {
      year = await live(options);
    });

    it('ends every improve without an error', () => {
      expect(year.errors).to.deep.equal([]);
      expect(year.kills).to.equal(options.kills);
    });

    it('keeps every turn, and each once', () => {
      const wrong = [...year.found].filter(([, count]) => count !== 1);
      expect(wrong).to.deep.equal([]);
      expect(year.found.size).to.equal(turns);
    });

    it('grows with the facts, not with the turns', () => {
      // After as many sessions as there are people, every fact was told; tokens of turns are names of nothing.
      const told = year.entities[PEOPLE.length - 1] ?? 0;
      expect(year.entities.at(-1)).to.be.at.most(told + PLACES.length, year.entities.join(' '));
    });

    it('takes as long for a session at the end as at the beginning', () => {
      const quarter = Math.max(2, Math.floor(options.sessions / 4));
      const [early, late] = [median(year.improveMs.slice(1, 1 + quarter)), median(year.improveMs.slice(-quarter))];
      expect(late, `early ${Math.round(early)} ms, late ${Math.round(late)} ms`).to.be.below(early * 2 + 150);
    });
  });
}

async function turnsFound(server: EngramProcess, sessions: number, turnsPerSession: number) {
  const datasets = await get<readonly { readonly id: string; readonly name: string }[]>(server, '/datasets');
  const dataset = datasets.find(({ name }) => name === DATASET)?.id ?? '';
  const found = new Map<string, number>();
  for (let session = 0; session < sessions; session += 1) {
    for (let index = 0; index < turnsPerSession; index += 1) found.set(turn(session, index).token, 0);
  }
  for (let offset = 0; ; offset += 1000) {
    const items = await get<readonly { readonly id: string }[]>(server, `/datasets/${dataset}/data?offset=${offset}`);
    for (const { id } of items) {
      const text = await (await fetch(`${server.baseUrl}/api/v1/datasets/${dataset}/data/${id}/raw`)).text();
      // Lessons are written in their own words; only documents of questions and answers quote turns.
      if (!text.includes('(turn')) continue;
      for (const [, token = ''] of text.matchAll(/\((turn\d+x\d+)\)/g)) found.set(token, (found.get(token) ?? 0) + 1);
    }
    if (items.length < 1000) return found;
  }
}

async function entityCount(server: EngramProcess): Promise<number> {
  const datasets = await get<readonly { readonly id: string; readonly name: string }[]>(server, '/datasets');
  const dataset = datasets.find(({ name }) => name === DATASET)?.id ?? '';
  const { nodes } = await get<{ readonly nodes: readonly { readonly type: string }[] }>(
    server,
    `/datasets/${dataset}/graph`,
  );
  return nodes.filter(({ type }) => type === 'Entity').length;
}

async function post<Answer>(server: EngramProcess, path: string, body: unknown): Promise<Answer> {
  return answerOf(
    await fetch(`${server.baseUrl}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
}

async function get<Answer>(server: EngramProcess, path: string): Promise<Answer> {
  return answerOf(await fetch(`${server.baseUrl}/api/v1${path}`));
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
