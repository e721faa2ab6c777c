import { isDeepStrictEqual } from 'node:util';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { type LeftBehind, leftBehind, NOTHING } from '../support/left-behind.ts';
import { startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';

/** Small documents with shared entities, so that a lost or doubled one shows in the merged graph. */
function documents(count: number): readonly { readonly name: string; readonly text: string }[] {
  const people = ['Ada Lovelace', 'Charles Babbage', 'Mary Somerville', 'Augustus De Morgan', 'Michael Faraday'];
  const places = ['London', 'Cambridge', 'Turin', 'Edinburgh'];
  return Array.from({ length: count }, (_, index) => {
    const person = people[index % people.length];
    const other = people[(index + 2) % people.length];
    const place = places[index % places.length];
    return {
      name: `letter-${index}.txt`,
      text: `${person} met ${other} in ${place} in ${1830 + index}. ${person} wrote letter number ${index} about the Analytical Engine. ${other} answered from ${place}.`,
    };
  });
}

export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  readonly items: readonly string[];
  /** Nodes and edges by their names: ids of documents are random. */
  readonly graph: { readonly nodes: readonly string[]; readonly edges: readonly string[] };
}

interface WireGraph {
  readonly nodes: readonly {
    readonly id: string;
    readonly label: string;
    readonly type: string;
    readonly properties: Record<string, unknown>;
  }[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly label: string }[];
}

interface KillOptions {
  readonly documents: number;
  readonly kills: number;
  readonly random: () => number;
  /** `add`: add and cognify by themselves; `remember`: both in one call. Default `add`. */
  readonly by?: 'add' | 'remember';
}

/** Adds and builds documents without a kill, thus in this process: what a disturbed run is compared with. */
export async function addCalmly(count: number, keep: (index: number) => boolean = () => true): Promise<KillReport> {
  const server = await startApp();
  try {
    const letters = documents(count).filter((_, index) => keep(index));
    for (const letter of letters) await add(server, letter);
    await runToTheEnd(server);
    return { kills: 0, acknowledged: letters.length, ...(await readBack(server)) };
  } finally {
    await server.stop();
  }
}

/** Adds and builds documents while the process is killed `kills` times at moments chosen by `random`. */
export async function addUnderKills(options: KillOptions): Promise<KillReport> {
  const data = makeDataDir();
  const letters = documents(options.documents);
  const acknowledged = new Set<string>();
  let server = await startProcess({ dataDir: data.path });
  try {
    for (let kills = 0; kills < options.kills; kills += 1) {
      const work = (options.by === 'remember' ? rememberBusily : busily)(server, letters, acknowledged);
      await pause(30 + options.random() * 900);
      await server.kill();
      await work;
      server = await startProcess({ dataDir: data.path });
    }
    // What was cut off before its acknowledgement is sent again, as a client would.
    for (const letter of letters) await add(server, letter);
    await runToTheEnd(server);
    return { kills: options.kills, acknowledged: acknowledged.size, ...(await readBack(server)) };
  } finally {
    await server.stop();
    data.remove();
  }
}

/** Adds what was not acknowledged yet and asks for builds, until the process is gone. */
async function busily(
  server: EngramProcess,
  letters: ReturnType<typeof documents>,
  acknowledged: Set<string>,
): Promise<void> {
  try {
    for (const letter of letters.filter(({ name }) => !acknowledged.has(name))) {
      await add(server, letter);
      acknowledged.add(letter.name);
      if (acknowledged.size % 3 === 0) await cognify(server, true);
    }
    for (;;) await cognify(server, false);
  } catch {
    // The process was killed.
  }
}

async function rememberBusily(
  server: EngramProcess,
  letters: ReturnType<typeof documents>,
  acknowledged: Set<string>,
): Promise<void> {
  try {
    for (;;) {
      for (const letter of letters) {
        await post(server, '/remember', letter);
        acknowledged.add(letter.name);
      }
    }
  } catch {
    // The process was killed.
  }
}

interface ForgetReport {
  readonly kills: number;
  /** Names of items that were acknowledged as forgotten and were there after a restart: none. */
  readonly returned: readonly string[];
  readonly left: KillReport;
  /** After the dataset was forgotten under kills, too. */
  readonly remains: LeftBehind & { readonly datasets: number };
}

/**
 * Builds documents, then forgets those of odd numbers while the process is killed; what is left is read back. At the end the
 * dataset is forgotten under a kill as well. A call that got no answer is repeated, as a client would.
 */
export async function forgetUnderKills(options: Omit<KillOptions, 'by'>): Promise<ForgetReport> {
  const data = makeDataDir();
  let server = await startProcess({ dataDir: data.path });
  try {
    for (const letter of documents(options.documents)) await add(server, letter);
    await runToTheEnd(server);
    const doomed = (await itemsOf(server)).filter(({ name }) => Number(name.split('-')[1]) % 2 === 1);
    const forgotten = new Set<string>();
    const returned = new Set<string>();
    for (let kills = 0; kills < options.kills || forgotten.size < doomed.length; kills += 1) {
      const work = forgetBusily(server, doomed, forgotten);
      if (kills < options.kills) {
        await pause(5 + options.random() * 120);
        await server.kill();
      }
      await work;
      if (kills < options.kills) server = await startProcess({ dataDir: data.path });
      for (const { id, name } of await itemsOf(server)) if (forgotten.has(id)) returned.add(name);
    }
    const left = { kills: options.kills, acknowledged: forgotten.size, ...(await readBack(server)) };
    const work = answer(forget(server, { dataset: 'letters' })).catch(() => undefined);
    await pause(options.random() * 60);
    await server.kill();
    await work;
    server = await startProcess({ dataDir: data.path });
    // Gone already when the kill came late.
    await forget(server, { dataset: 'letters' });
    const datasets = (await answer(fetch(`${server.baseUrl}/api/v1/datasets`))) as unknown[];
    // What the restarted process was still writing when the dataset went is given up a moment later.
    const look = () => leftBehind(data.path, server.pid);
    await until('nothing is left', () => isDeepStrictEqual(look(), NOTHING), { limitMs: 10_000 }).catch(() => {});
    return {
      kills: options.kills,
      returned: [...returned],
      left,
      remains: { ...look(), datasets: datasets.length },
    };
  } finally {
    await server.stop();
    data.remove();
  }
}

type Server = Pick<EngramProcess, 'baseUrl'>;

interface Item {
  readonly id: string;
  readonly name: string;
}

/** Forgets one after another; the set holds those that were acknowledged. */
async function forgetBusily(server: EngramProcess, items: readonly Item[], forgotten: Set<string>): Promise<void> {
  try {
    for (const { id } of items) {
      if (forgotten.has(id)) continue;
      await answer(forget(server, { dataset: 'letters', dataId: id }));
      forgotten.add(id);
    }
  } catch {
    // The process was killed.
  }
}

function forget(server: EngramProcess, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${server.baseUrl}/api/v1/forget`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function itemsOf(server: Server): Promise<readonly Item[]> {
  const [dataset] = (await answer(fetch(`${server.baseUrl}/api/v1/datasets`))) as { id: string }[];
  return (await answer(fetch(`${server.baseUrl}/api/v1/datasets/${dataset?.id}/data`))) as Item[];
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

function add(server: Server, letter: { readonly name: string; readonly text: string }): Promise<void> {
  return post(server, '/add', letter);
}

async function post(
  server: Server,
  path: string,
  letter: { readonly name: string; readonly text: string },
): Promise<void> {
  const form = new FormData();
  form.append('data', new Blob([letter.text]), letter.name);
  form.append('datasetName', 'letters');
  await answer(fetch(`${server.baseUrl}/api/v1${path}`, { method: 'POST', body: form }));
}

function cognify(server: Server, runInBackground: boolean): Promise<unknown> {
  const body = JSON.stringify({ datasets: ['letters'], runInBackground });
  const headers = { 'content-type': 'application/json' };
  return answer(fetch(`${server.baseUrl}/api/v1/cognify`, { method: 'POST', headers, body }));
}

async function answer(pending: Promise<Response>): Promise<unknown> {
  const response = await pending;
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
}

/** Runs that were cut off go on by themselves; the last one finds everything built. */
async function runToTheEnd(server: Server): Promise<void> {
  await cognify(server, false);
}

async function readBack(server: Server): Promise<Pick<KillReport, 'items' | 'graph'>> {
  const [dataset] = (await answer(fetch(`${server.baseUrl}/api/v1/datasets`))) as { id: string }[];
  const base = `${server.baseUrl}/api/v1/datasets/${dataset?.id}`;
  const items = (await answer(fetch(`${base}/data`))) as { name: string }[];
  const graph = (await answer(fetch(`${base}/graph`))) as WireGraph;
  return { items: items.map(({ name }) => name).sort(), graph: byName(graph) };
}

function byName({ nodes, edges }: WireGraph): KillReport['graph'] {
  const names = new Map(
    nodes.map((node) => [node.id, `${node.type}:${String(node.properties['text'] ?? node.label)}`]),
  );
  return {
    nodes: [...names.values()].sort(),
    edges: edges.map(({ source, label, target }) => `${names.get(source)} -${label}-> ${names.get(target)}`).sort(),
  };
}
