import { existsSync } from 'node:fs';
import { join } from 'node:path';
import engram from '../../../package.json' with { type: 'json' };
import { ApiFailure } from '../api-client.ts';
import type { Command, CommandCall } from '../command.ts';
import { packageRoot, serverNode } from '../local-server.ts';
import { print, printJson } from '../output.ts';
import { chosenProfile, profilesPath, readProfiles } from '../profiles.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';

type State = 'ok' | 'note' | 'problem';

interface Check {
  readonly state: State;
  readonly what: string;
  readonly remedy?: string;
}

const SIGNS = { ok: '✓', note: '·', problem: '✗' } as const;

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '',
  summary: 'Says what is configured here, what answers, and what to do about the rest.',
  options: {},
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('doctor takes no arguments. See: engram doctor --help');
    const checks = [...programs(), ...(await configuration(call)), ...profile(call), ...(await server(call))];
    const isWell = checks.every(({ state }) => state !== 'problem');
    if (call.asJson) printJson(call, { is_well: isWell, checks });
    else {
      for (const { state, what, remedy } of checks) {
        print(call, `${SIGNS[state]} ${what}${remedy === undefined ? '' : `\n    ${remedy}`}`);
      }
    }
    return isWell ? exitCodes.ok : exitCodes.failed;
  },
};

function programs(): Check[] {
  const checks: Check[] = [{ state: 'ok', what: `engram ${engram.version} on Node ${process.versions.node}` }];
  try {
    const node = serverNode();
    const isThere = existsSync(node) && existsSync(join(packageRoot(), 'services/start.mjs'));
    if (isThere) checks.push({ state: 'ok', what: `engram serve can start a server (${node})` });
    else
      checks.push({ state: 'problem', what: `${node} is missing`, remedy: 'Install again, with optional packages.' });
  } catch (error) {
    checks.push({ state: 'note', what: (error as Error).message });
  }
  return checks;
}

/** Checks a server that would be started here. */
async function configuration({ terminal: { environment } }: CommandCall): Promise<Check[]> {
  // Loaded here, for no other command needs it.
  const { ConfigurationError, loadConfig, readDotenv } = await import('../../common/platform/config/load-config.ts');
  try {
    const dotenv = readDotenv(environment, process.cwd());
    const { config, warnings } = loadConfig(environment, dotenv);
    const from = dotenv === null ? 'no .env file' : dotenv.path;
    const model =
      config.languageModel === null
        ? 'none: rules extract, answers are quotes'
        : `${config.languageModel.provider}, ${config.languageModel.model}`;
    const embedding =
      config.embedding === null ? 'built in' : `${config.embedding.provider}, ${config.embedding.model}`;
    return [
      { state: 'ok', what: `settings for a server started here: ${from}, data in ${config.dataDir}` },
      ...(config.languageModel === null
        ? [
            {
              state: 'note',
              what: `language model: ${model}`,
              remedy: 'For better answers set LLM_PROVIDER, LLM_MODEL and LLM_API_KEY.',
            } as const,
          ]
        : [{ state: 'ok', what: `language model: ${model}` } as const]),
      { state: 'ok', what: `embeddings: ${embedding}` },
      {
        state: 'ok',
        what: `authentication: ${config.posture.required ? 'required' : `off: whoever reaches ${config.host} may do everything`}`,
      },
      ...warnings.map((warning) => ({ state: 'note', what: warning }) as const),
    ];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map((problem) => ({ state: 'problem', what: problem }));
  }
}

function profile({ terminal: { environment } }: CommandCall): Check[] {
  try {
    const { current, profiles } = readProfiles(environment);
    const chosen = chosenProfile(environment, environment['ENGRAM_PROFILE'] || null);
    if (chosen === null) return [];
    const names = Object.keys(profiles).join(', ');
    return [{ state: 'ok', what: `profiles in ${profilesPath(environment)}: ${names}; current: ${current ?? 'none'}` }];
  } catch (error) {
    return [{ state: 'problem', what: (error as Error).message }];
  }
}

interface Health {
  readonly status: string;
  readonly version?: string;
  readonly components?: Readonly<Record<string, { readonly status: string; readonly details?: unknown }>>;
}

async function server({ api }: CommandCall): Promise<Check[]> {
  const checks: Check[] = [];
  try {
    const { status, version = '', components = {} } = await api.json<Health>('GET', '/health/detailed');
    checks.push({ state: 'ok', what: `a server answers at ${api.baseUrl}: ${status}, API of cognee ${version}` });
    for (const [name, { status: state, details }] of Object.entries(components)) {
      const text = typeof details === 'string' ? `: ${details}` : '';
      checks.push({ state: /^(healthy|ok|ready)$/.test(state) ? 'ok' : 'problem', what: `${name} ${state}${text}` });
    }
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    return [
      {
        state: 'problem',
        what: error.message,
        ...(error instanceof ApiFailure ? {} : { remedy: 'Start one: engram serve' }),
      },
    ];
  }
  try {
    const datasets = await api.json<readonly unknown[]>('GET', '/api/v1/datasets');
    checks.push({ state: 'ok', what: `it lets you in: ${datasets.length} datasets` });
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    checks.push({ state: 'problem', what: error.message });
  }
  return checks;
}
