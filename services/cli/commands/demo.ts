import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, createApiClient } from '../api-client.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { type LocalServer, startServer } from '../local-server.ts';
import { note, print, printJson } from '../output.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { itemText, type RecallItem } from './recall.ts';

const DATASET = 'engram_demo';

/** Notes of a small company, as somebody would write them down. */
const NOTES = [
  'Harbour Coffee was founded by Maria Lindqvist in Gothenburg in 2019. Maria had worked as an engineer at Volvo before.',
  'Tomas Okafor leads the roastery of Harbour Coffee. He reports to Maria Lindqvist. The roastery stands in Mölndal.',
  'On 3 March 2025 the roastery was closed for a week, because the drum of the old Probat roaster had cracked. Tomas ordered a Loring S35 on 5 March 2025.',
  'Harbour Coffee buys its beans from the cooperative Finca Esperanza in Huila, Colombia. The contract with Finca Esperanza ends on 31 December 2026.',
  'Meeting of 12 May 2025: Maria decided that the subscription shop moves from Shopify to WooCommerce. Priya Raman migrates the shop by August.',
];

const QUESTIONS = [
  'Who founded Harbour Coffee?',
  'Why was the roastery closed in March 2025?',
  'Where do the beans of Harbour Coffee come from?',
  'When does the contract with Finca Esperanza end?',
];

export const demoCommand: Command = {
  name: 'demo',
  usage: '',
  summary: 'Loads five short notes and asks four questions about them.',
  details: `Where no server answers, one is started for the demo and removed with its data. The dataset ${DATASET} is forgotten at the end.`,
  options: { keep: { type: 'boolean', meaning: `keep the dataset ${DATASET}` } },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('demo takes no arguments. See: engram demo --help');
    const own = (await isReachable(call)) ? null : await ownServer(call);
    try {
      return await demonstrate(
        call,
        own === null ? call.api : createApiClient({ ...own, apiKey: null, timeoutMs: 60_000 }),
      );
    } finally {
      await own?.stop();
    }
  },
};

/** A server that was named must answer. */
async function isReachable({ api, options, terminal }: CommandCall): Promise<boolean> {
  try {
    await api.json('GET', '/health');
    return true;
  } catch (error) {
    const isNamed = stringOption(options, 'url') !== null || Boolean(terminal.environment['ENGRAM_URL']);
    if (isNamed || !(error instanceof CliFailure) || error.exitCode !== exitCodes.unreachable) throw error;
    return false;
  }
}

async function ownServer(call: CommandCall): Promise<LocalServer & { readonly baseUrl: string }> {
  note(call, `No server answers at ${call.api.baseUrl}: starting one for the demo …`);
  const folder = await mkdtemp(join(tmpdir(), 'engram-demo-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const server = await startServer(folder, call.terminal);
    return {
      url: server.url,
      baseUrl: server.url,
      async stop() {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function demonstrate(call: CommandCall, api: ApiClient): Promise<number> {
  if (!call.asJson) {
    print(call, `Five notes go into the dataset ${DATASET}:\n`);
    for (const text of NOTES) print(call, `  ${text}`);
  }
  const startedAt = performance.now();
  await api.json('POST', '/api/v1/add', { body: { data: NOTES, datasetName: DATASET } });
  await api.json('POST', '/api/v1/cognify', { body: { datasets: [DATASET] } });
  const seconds = (performance.now() - startedAt) / 1_000;
  if (!call.asJson) print(call, `\nAdded and turned into a graph in ${seconds.toFixed(1)} s.\n`);
  const answers: object[] = [];
  for (const query of QUESTIONS) {
    const items = await api.json<readonly RecallItem[]>('POST', '/api/v1/recall', {
      body: { query, datasets: [DATASET], search_type: 'GRAPH_COMPLETION' },
    });
    answers.push({ question: query, answer: items });
    if (!call.asJson) print(call, `? ${query}\n${items.slice(0, 1).map(itemText).join('\n')}\n`);
  }
  if (!isSet(call.options, 'keep')) await api.json('POST', '/api/v1/forget', { body: { dataset: DATASET } });
  if (call.asJson) printJson(call, { seconds, answers });
  else print(call, 'Next: engram serve, then engram import ./your-notes --cognify, and engram ask');
  return exitCodes.ok;
}
