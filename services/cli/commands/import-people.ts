import type { DatasetDTO } from '../../client/index.ts';
import { ApiFailure } from '../api-client.ts';
import { PERMISSIONS, type SourcePeople, type SourceSession, type SourceUser } from '../cognee-source.ts';
import type { CommandCall } from '../command.ts';
import { harmless, note } from '../output.ts';
import { invite, userIdOf } from '../people.ts';
import { type Report, reasonOf } from './import-report.ts';

interface SessionImport {
  readonly targets: ReadonlyMap<string, DatasetDTO>;
  readonly isDryRun: boolean;
  readonly report: Report;
}

export async function importSessions(
  call: CommandCall,
  source: SourcePeople,
  { targets, isDryRun, report }: SessionImport,
) {
  for await (const { session_id: id, dataset_id } of source.sessions()) {
    const target = targets.get(dataset_id ?? '');
    if (target === undefined && (!isDryRun || call.datasetGiven !== null)) {
      if (call.datasetGiven === null) report.leftBehind.add('sessions of datasets that the key may not read');
      continue;
    }
    try {
      const session = await source.session(id);
      const entries = entriesOf(session);
      if (target !== undefined) await sendEntries(call, { id, dataset: target.id }, entries, report);
      else report.entries += entries.length;
      report.sessions += 1;
      if (entries.length > 0) report.leftBehind.add('times of session turns: they carry the time of the import');
    } catch (error) {
      report.failed.push({ what: `session ${id}`, reason: reasonOf(error) });
    }
  }
}

type Entry = Readonly<Record<string, unknown>> & { readonly type: 'qa' | 'trace' };

function entriesOf({ qas = [], traces = [] }: SourceSession): readonly Entry[] {
  const entries: Entry[] = [];
  for (const { question = '', context = '', answer = '', feedback_text, feedback_score } of qas) {
    entries.push({ type: 'qa', question, context, answer, feedback_text, feedback_score });
  }
  for (const trace of traces) {
    const { origin_function, status, memory_query, memory_context, method_params, method_return_value, error_message } =
      trace;
    const fields = { origin_function, status, memory_query, memory_context, error_message };
    entries.push({ type: 'trace', ...fields, method_params, method_return_value });
  }
  return entries;
}

/** Sends the entries that the session does not hold yet. */
async function sendEntries(
  call: CommandCall,
  { id, dataset }: { readonly id: string; readonly dataset: string },
  entries: readonly Entry[],
  report: Report,
): Promise<void> {
  const present = await call.api
    .json<SourceSession>('GET', `/api/v1/sessions/${encodeURIComponent(id)}`)
    .then((session) => countsOf(entriesOf(session)))
    .catch((error: unknown) => {
      if (error instanceof ApiFailure && error.status === 404) return new Map<string, number>();
      throw error;
    });
  for (const entry of entries) {
    const key = keyOf(entry);
    const left = present.get(key) ?? 0;
    if (left > 0) {
      present.set(key, left - 1);
      continue;
    }
    await call.api.json('POST', '/api/v1/remember/entry', { body: { entry, dataset_id: dataset, session_id: id } });
    report.entries += 1;
  }
}

function countsOf(entries: readonly Entry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  return counts;
}

/** Key that is equal for entries that say the same; stored values of a trace are cut, so those are left out. */
function keyOf(entry: Entry): string {
  const { type, question, answer, origin_function, status } = entry;
  return JSON.stringify(type === 'qa' ? [type, question, answer] : [type, origin_function, status]);
}

export async function importPeople(
  call: CommandCall,
  source: SourcePeople,
  { targets, report }: Pick<SessionImport, 'targets' | 'report'>,
): Promise<void> {
  const me = await call.api.json<SourceUser & { readonly tenant_id: string | null }>('GET', '/api/v1/users/me');
  for (const user of await source.users()) {
    if (user.email.toLowerCase() === me.email.toLowerCase()) continue;
    try {
      const { id, invitation } = await accountFor(call, user.email);
      if (invitation !== null) {
        report.users += 1;
        report.leftBehind.add('passwords: new users choose theirs by the link of their invitation');
        const { link } = invitation;
        report.invitations.push({ email: user.email, link });
        // The only time that it is shown: not left to the end, which an error may keep from coming.
        const way = link === null ? 'by mail' : `give this link to them: ${link}`;
        note(call, `invited ${harmless(user.email)}, ${way}`);
        if (me.tenant_id !== null) await joinTenant(call, id, me.tenant_id);
      }
      for (const permission of PERMISSIONS) {
        const permitted = await source.permitted(user.id, permission);
        const datasets = permitted.flatMap((dataset) => targets.get(dataset.id)?.id ?? []);
        if (datasets.length === 0) continue;
        await call.api.json('POST', `/api/v1/permissions/datasets/${id}`, {
          query: { permission_name: permission },
          body: datasets,
        });
        report.grants += datasets.length;
      }
    } catch (error) {
      report.failed.push({ what: `user ${user.email}`, reason: reasonOf(error) });
    }
  }
  report.leftBehind.add('roles, API keys and agents: make them here');
}

/** Finds the account of an address, or invites its owner. */
async function accountFor(call: CommandCall, email: string) {
  const present = await userIdOf(call, email).catch((error: unknown) => {
    if (error instanceof ApiFailure && error.status === 404) return null;
    throw error;
  });
  if (present !== null) return { id: present, invitation: null };
  const invitation = await invite(call, email);
  return { id: invitation.user.id, invitation };
}

async function joinTenant(call: CommandCall, user: string, tenant: string): Promise<void> {
  await call.api.json('POST', `/api/v1/permissions/users/${user}/tenants`, { query: { tenant_id: tenant } });
}
