import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';

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

/** Adds and builds documents while the process is killed `kills` times at moments chosen by `random`. */
export async function addUnderKills(options: {
  readonly documents: number;
  readonly kills: number;
  readonly random: () => number;
}): Promise<KillReport> {
  const data = makeDataDir();
  const letters = documents(options.documents);
  const acknowledged = new Set<string>();
  let server = await startProcess({ dataDir: data.path });
  try {
    for (let kills = 0; kills < options.kills; kills += 1) {
      const work = busily(server, letters, acknowledged);
      await new Promise((resolve) => setTimeout(resolve, 30 + options.random() * 900));
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

async function add(server: EngramProcess, letter: { readonly name: string; readonly text: string }): Promise<void> {
  const form = new FormData();
  form.append('data', new Blob([letter.text]), letter.name);
  form.append('datasetName', 'letters');
  await answer(fetch(`${server.baseUrl}/api/v1/add`, { method: 'POST', body: form }));
}

function cognify(server: EngramProcess, runInBackground: boolean): Promise<unknown> {
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
async function runToTheEnd(server: EngramProcess): Promise<void> {
  await cognify(server, false);
}

async function readBack(server: EngramProcess): Promise<Pick<KillReport, 'items' | 'graph'>> {
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
