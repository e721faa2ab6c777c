import { readFile } from 'node:fs/promises';
import type { Answer, SessionDetail, SettingsDTO } from '../../client/index.ts';
import { type Action, type CommandCall, isSet, stringOption } from '../command.ts';
import { group, textOf } from '../group.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';

const first = (call: CommandCall) => call.arguments[0] ?? '';
const segment = (text: string) => encodeURIComponent(text);

const rangeOption = {
  range: { type: 'string', value: 'RANGE', meaning: '24h, 7d, 30d or all' },
} as const;

function rangeOf(call: CommandCall): { readonly query: Readonly<Record<string, string>> } {
  const range = stringOption(call.options, 'range');
  return { query: range === null ? {} : { range } };
}

const sessions: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists sessions, newest first.',
    options: rangeOption,
    request: (call) => call.api.json('GET', '/api/v1/sessions', rangeOf(call)),
    show: (answer) =>
      textOf((answer as { sessions: unknown }).sessions, [
        ...['session_id', 'effective_status', 'started_at', 'last_activity_at', 'tokens_in', 'tokens_out', 'cost_usd'],
      ]),
  },
  {
    name: 'show',
    parameters: '<session>',
    summary: 'Shows the turns of a session.',
    request: (call) => call.api.json('GET', `/api/v1/sessions/${segment(first(call))}`),
    show: (answer) => {
      const { qas = [] } = answer as SessionDetail;
      const turns = qas.map(({ question, answer: text, qa_id: id }) => `> ${question}\n${text}\n  (turn ${id})`);
      return turns.length === 0 ? 'no turns yet' : turns.join('\n\n');
    },
  },
  {
    name: 'stats',
    summary: 'Counts sessions, tokens and money.',
    options: rangeOption,
    request: (call) => call.api.json('GET', '/api/v1/sessions/stats', rangeOf(call)),
  },
  {
    name: 'costs',
    summary: 'Tokens and money by model.',
    options: rangeOption,
    request: (call) => call.api.json('GET', '/api/v1/sessions/cost-by-model', rangeOf(call)),
  },
];

export const sessionsCommand = group('sessions', 'Sessions: list, show, stats, costs.', sessions);

const agents: readonly Action[] = [
  { name: 'list', summary: 'Lists your agents.', request: ({ api }) => api.json('GET', '/api/v1/agents/list') },
  {
    name: 'create',
    parameters: '<name>',
    summary: 'Creates an agent with a key of its own, shown this once.',
    request: (call) => call.api.json('POST', '/api/v1/agents/create', { query: { name: first(call) } }),
  },
  {
    name: 'show',
    parameters: '<id>',
    summary: 'Shows an agent.',
    request: (call) => call.api.json('GET', `/api/v1/agents/${segment(first(call))}`),
  },
  {
    name: 'delete',
    parameters: '<id>',
    summary: 'Deletes an agent and its key.',
    asks: (call) => `Delete agent ${first(call)}?`,
    request: (call) => call.api.json('DELETE', `/api/v1/agents/${segment(first(call))}`),
  },
  {
    name: 'connections',
    summary: 'Lists the agents that are connected.',
    request: ({ api }) => api.json('GET', '/api/v1/agents/connections'),
    show: (answer) =>
      textOf((answer as { agents: unknown }).agents, [
        ...['agent_session_name', 'type', 'memory_mode', 'status', 'session_id', 'last_active_at'],
      ]),
  },
];

export const agentsCommand = group('agents', 'Agents: list, create, show, delete, connections.', agents);

interface Syncs {
  readonly has_remote: boolean;
  readonly runs: readonly unknown[];
}

const syncRuns = ({ api }: CommandCall) => api.json<Syncs>('GET', '/api/v1/sync/runs');
const NO_REMOTE = 'no other memory is configured: set COGNEE_SERVICE_URL and COGNEE_API_KEY for the server';

const sync: readonly Action[] = [
  {
    name: 'status',
    summary: 'Lists the latest syncs, newest first, with their errors.',
    request: syncRuns,
    show: (answer) => {
      const { has_remote: hasRemote, runs } = answer as Syncs;
      if (runs.length === 0) return hasRemote ? 'nothing was synced yet' : NO_REMOTE;
      return textOf(runs, ['created_at', 'status', 'uploaded', 'downloaded', 'passed_over', 'error']);
    },
  },
  {
    name: 'start',
    summary: 'Brings datasets into step with the memory of COGNEE_SERVICE_URL; all, or --dataset.',
    request: async (call) => {
      if (!(await syncRuns(call)).has_remote) throw new CliFailure(NO_REMOTE, exitCodes.failed);
      const only = call.datasetGiven === null ? [] : [(await findDataset(call.api, call.datasetGiven)).id];
      return call.api.json('POST', '/api/v1/sync', { body: only.length === 0 ? {} : { datasetIds: only } });
    },
  },
];

export const syncCommand = group('sync', 'Sync of datasets with another server: status, start.', sync);

const activity: readonly Action[] = [
  {
    name: 'runs',
    summary: 'Lists runs and operations, newest first.',
    options: { limit: { type: 'string', value: 'NUMBER', meaning: 'how many, default 50' } },
    fields: ['created_at', 'operation_name', 'status', 'dataset_name', 'owner_email', 'error_message'],
    request: async (call) =>
      call.api.json('GET', '/api/v1/activity/pipeline-runs', {
        query: {
          limit: stringOption(call.options, 'limit') ?? '50',
          ...(call.datasetGiven === null ? {} : { dataset_id: (await findDataset(call.api, call.datasetGiven)).id }),
        },
      }),
  },
  { name: 'users', summary: 'Lists accounts.', request: ({ api }) => api.json('GET', '/api/v1/activity/users') },
  { name: 'agents', summary: 'Lists agents.', request: ({ api }) => api.json('GET', '/api/v1/activity/agents') },
  { name: 'spans', summary: 'Lists traces.', request: ({ api }) => api.json('GET', '/api/v1/activity/spans') },
];

export const activityCommand = group('activity', 'What happens: runs, users, agents, spans.', activity);

const modelOptions = {
  provider: { type: 'string', value: 'NAME', meaning: 'openai, ollama, anthropic, gemini, mistral' },
  model: { type: 'string', value: 'NAME', meaning: 'as the provider calls it' },
} as const;

const config: readonly Action[] = [
  {
    name: 'show',
    summary: 'Shows the language model of the server.',
    request: ({ api }) => api.json('GET', '/api/v1/settings'),
    // The API names a model by default; it is used with a key or an address only.
    show: (answer) => {
      const { llm } = answer as SettingsDTO;
      if (!llm.apiKey && !llm.endpoint) return 'none: rules extract, answers are quotes (engram config set-model)';
      return textOf(llm, ['provider', 'model', 'endpoint', 'apiKey']);
    },
  },
  {
    name: 'set-model',
    summary: 'Sets the language model while the server runs; its key is read from LLM_API_KEY.',
    options: modelOptions,
    request: (call) => {
      const provider = stringOption(call.options, 'provider');
      const model = stringOption(call.options, 'model');
      if (provider === null || model === null) throw usageFailure('Give --provider and --model.');
      const apiKey = call.terminal.environment['LLM_API_KEY'] ?? '';
      return call.api.json('POST', '/api/v1/settings', { body: { llm: { provider, model, apiKey } } });
    },
  },
  {
    name: 'reset',
    summary: 'Goes back to the model of the environment.',
    asks: () => 'Forget the model that was set at run time?',
    request: ({ api }) => api.json('DELETE', '/api/v1/settings'),
  },
  {
    name: 'variables',
    summary: 'Explains every setting of the server.',
    request: async () => (await import('../../common/platform/config/documentation.ts')).configurationText(),
  },
];

export const configCommand = group('config', 'Settings of the server: show, set-model, reset, variables.', config);

const schema: readonly Action[] = [
  {
    name: 'infer',
    parameters: '<file>...',
    summary: 'Proposes a graph model for texts like these.',
    request: async (call) => {
      const form = new FormData();
      for (const file of call.arguments) form.append('data', new Blob([await contentOf(file)]), file);
      return call.api.json('POST', '/api/v1/llm/infer-schema', { body: form });
    },
    show: (answer) => JSON.stringify((answer as { graphSchema: unknown }).graphSchema, null, 2),
  },
  {
    name: 'prompt',
    parameters: '<schema.json>',
    summary: 'Writes an extraction prompt for a graph model.',
    request: async (call) =>
      call.api.json('POST', '/api/v1/llm/custom-prompt', { body: { graphModel: await jsonOf(first(call)) } }),
    show: (answer) => (answer as { customPrompt: string }).customPrompt,
  },
];

export const schemaCommand = group('schema', 'Graph models: infer one, write a prompt for one.', schema);

async function contentOf(file: string): Promise<Buffer<ArrayBuffer>> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`, exitCodes.usage, {
      cause: error,
    });
  }
}

/** Errors: `CliFailure` for a file that is not JSON. */
export async function jsonOf(file: string): Promise<unknown> {
  const text = (await contentOf(file)).toString();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliFailure(`${file} is not valid JSON: ${(error as Error).message}`, exitCodes.usage, { cause: error });
  }
}

type SkillsAnswer = Answer<'/api/v1/skills', 'post'>;

async function datasetQuery(call: CommandCall): Promise<{ readonly query: { readonly dataset_id: string } }> {
  return { query: { dataset_id: (await findDataset(call.api, call.dataset)).id } };
}

const skills: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the skills of --dataset.',
    options: { all: { type: 'boolean', meaning: 'inactive ones too' } },
    fields: ['name', 'id', 'description', 'is_active'],
    request: async (call) => {
      const { query } = await datasetQuery(call);
      return call.api.json('GET', '/api/v1/skills', {
        query: { ...query, ...(isSet(call.options, 'all') ? { include_inactive: 'true' } : {}) },
      });
    },
  },
  {
    name: 'show',
    parameters: '<id>',
    summary: 'Shows a skill with its procedure.',
    request: async (call) => call.api.json('GET', `/api/v1/skills/${segment(first(call))}`, await datasetQuery(call)),
  },
  {
    name: 'add',
    parameters: '<SKILL.md>',
    summary: 'Adds the skills of a file.',
    options: { name: { type: 'string', value: 'NAME', meaning: 'name of the skill, default from the file' } },
    request: async (call) => {
      const name = stringOption(call.options, 'name');
      const body = {
        skills_text: (await contentOf(first(call))).toString(),
        ...(name === null ? {} : { skill_name: name }),
        dataset_id: (await findDataset(call.api, call.dataset)).id,
      };
      return call.api.json('POST', '/api/v1/skills', { body });
    },
    show: (answer) => {
      const { status, items = [] } = answer as SkillsAnswer;
      return [status, ...items.map(({ name = '', id = '' }) => `${name}  ${id}`.trim())].join('\n');
    },
  },
  {
    name: 'delete',
    parameters: '<id>',
    summary: 'Deletes a skill.',
    asks: (call) => `Delete skill ${first(call)}?`,
    request: async (call) =>
      call.api.json('DELETE', `/api/v1/skills/${segment(first(call))}`, await datasetQuery(call)),
  },
  {
    name: 'proposal',
    parameters: '<id>',
    summary: 'Shows a proposed improvement of a skill.',
    request: async (call) =>
      call.api.json('GET', `/api/v1/proposals/${segment(first(call))}`, await datasetQuery(call)),
  },
];

export const skillsCommand = group('skills', 'Skills of a dataset: list, show, add, delete, proposal.', skills);
