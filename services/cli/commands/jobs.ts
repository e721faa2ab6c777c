import type { Answer } from '../../client/index.ts';
import type { Command, CommandCall } from '../command.ts';
import { columns, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';

type DeadJob = Answer<'/api/v1/activity/jobs', 'get'>['jobs'][number];

const PATH = '/api/v1/activity/jobs';
const PAGE = '500';

export const jobsCommand: Command = {
  name: 'jobs',
  usage: '[list | show <id> | replay <id>… | discard <id>…]',
  summary: 'Lists the work that failed for good, has it done again, or removes it.',
  details: 'For superusers: the jobs are those of every tenant. A discarded job ends its run with an error.',
  options: {},
  async run(call) {
    const [action = 'list', ...ids] = call.arguments;
    if (action === 'list') return list(call);
    if (ids.length === 0) throw usageFailure(`Give the id of a job: engram jobs ${action} <id>`);
    if (action === 'show') return show(call, ids);
    if (action === 'replay') return change(call, ids, { method: 'POST', below: '/replay', done: 'queued again' });
    if (action === 'discard') return change(call, ids, { method: 'DELETE', below: '', done: 'discarded' });
    throw usageFailure(`jobs knows list, show, replay and discard, not '${action}'`);
  },
};

async function list(call: CommandCall): Promise<number> {
  const jobs: DeadJob[] = [];
  let after: string | null = null;
  do {
    const query: Record<string, string> = { limit: PAGE, ...(after === null ? {} : { after }) };
    const page = await call.api.json<{ jobs: readonly DeadJob[]; next: string | null }>('GET', PATH, { query });
    jobs.push(...page.jobs);
    after = page.next;
  } while (after !== null);
  if (call.asJson) printJson(call, jobs);
  else if (jobs.length === 0) print(call, 'no job has failed for good');
  else print(call, columns([['JOB', 'KIND', 'FAILED', 'ATTEMPTS', 'ERROR'], ...jobs.map(rowOf)]));
  return exitCodes.ok;
}

function rowOf({ id, kind, failed_at, attempts, error_class, error_message }: DeadJob): string[] {
  return [id, kind, failed_at.slice(0, 19), String(attempts), `${error_class}: ${error_message}`];
}

async function show(call: CommandCall, ids: readonly string[]): Promise<number> {
  for (const id of ids) printJson(call, await call.api.json('GET', pathOf(id)));
  return exitCodes.ok;
}

async function change(
  call: CommandCall,
  ids: readonly string[],
  { method, below, done }: { readonly method: string; readonly below: string; readonly done: string },
): Promise<number> {
  for (const id of ids) {
    const job = await call.api.json<DeadJob>(method, `${pathOf(id)}${below}`);
    if (call.asJson) printJson(call, job);
    else print(call, `${job.id} ${done}`);
  }
  return exitCodes.ok;
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
