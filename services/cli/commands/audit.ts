import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Answer } from '../../client/index.ts';
import { type AuditKey, checkAudit } from '../audit-check.ts';
import { type Command, type CommandCall, stringOption } from '../command.ts';
import { columns, count, note, print, printJson } from '../output.ts';
import { tenantIdOf } from '../people.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { AUDIT_PATH, auditKeys, requestExport, tenantQuery, unreadable } from './audit-request.ts';

type AuditPage = Answer<'/api/v1/audit', 'get'>;

const FILTERS = ['action', 'actor', 'subject', 'since', 'until', 'limit'] as const;

export const auditCommand: Command = {
  name: 'audit',
  usage: '[list | export | verify]',
  summary: 'Shows who did what in a tenant, saves the log, or proves that it was not changed.',
  details: `For managers of the users of the tenant. verify reads the log from the server, or an export with --file, makes every
hash anew and names the first record that was changed, left out, put in or moved; the signed end of the export shows what
was cut off. A hash that you wrote down earlier, given as --expect-head, must still stand in the log: that shows what the
server itself might have rewritten. Ends with 1 when something is wrong.`,
  options: {
    tenant: {
      type: 'string',
      value: 'NAME',
      meaning: "by name or id, default the one you work in; 'personal': accounts, for superusers",
    },
    action: { type: 'string', value: 'NAME', meaning: 'list: for example grant.given' },
    actor: { type: 'string', value: 'ID', meaning: 'list: what this user did' },
    subject: { type: 'string', value: 'ID', meaning: 'list: what was done to this' },
    since: { type: 'string', value: 'TIME', meaning: 'list: from this time on, for example 2026-01-31T12:00:00Z' },
    until: { type: 'string', value: 'TIME', meaning: 'list: before this time' },
    limit: { type: 'string', value: 'COUNT', meaning: 'list: at most so many, default 100' },
    output: { type: 'string', short: 'o', value: 'FILE', meaning: 'export: default standard output' },
    file: { type: 'string', value: 'FILE', meaning: 'verify: an export' },
    keys: { type: 'string', value: 'FILE', meaning: `verify: the server's keys, as GET ${AUDIT_PATH}/keys gave them` },
    'expect-head': { type: 'string', value: 'HASH', meaning: 'verify: a record of this hash must be in the log' },
  },
  async run(given) {
    const call = await ofTenant(given);
    const [action = 'list', ...more] = call.arguments;
    if (more.length > 0) throw usageFailure(`audit ${action} takes no arguments; name the tenant with --tenant`);
    if (action === 'list') return list(call);
    if (action === 'export') return save(call);
    if (action === 'verify') return verifyAudit(call);
    throw usageFailure(`audit knows list, export and verify, not '${action}'`);
  },
};

/** The call with the id of the tenant that it names. */
async function ofTenant(call: CommandCall): Promise<CommandCall> {
  const named = stringOption(call.options, 'tenant');
  if (named === null || named.toLowerCase() === 'personal') return call;
  return { ...call, options: { ...call.options, tenant: await tenantIdOf(call, named) } };
}

async function list(call: CommandCall): Promise<number> {
  const query = tenantQuery(call);
  for (const name of FILTERS) {
    const value = stringOption(call.options, name);
    if (value !== null) query[name] = value;
  }
  const page = await call.api.json<AuditPage>('GET', AUDIT_PATH, { query });
  if (call.asJson) printJson(call, page.records);
  else if (page.records.length === 0) print(call, 'nothing was recorded');
  else
    print(
      call,
      columns([
        ['RECORD', 'AT', 'ACTION', 'ACTOR', 'SUBJECT', 'DETAILS'],
        ...page.records.map((record) => rowOf(record, page)),
      ]),
    );
  if (page.next !== null) note(call, 'there are older ones: give --until or a greater --limit');
  return exitCodes.ok;
}

function rowOf(
  { number, at, action, actor, subject, details }: AuditPage['records'][number],
  page: AuditPage,
): string[] {
  const named = (id: string) => (Object.hasOwn(page.names, id) ? `${page.names[id]} ${id}` : id);
  const shown = Object.entries(details).map(([name, value]) => {
    return `${name}=${typeof value === 'string' ? named(value) : JSON.stringify(value)}`;
  });
  return [String(number), at.slice(0, 19), action, named(actor ?? ''), named(subject), shown.join(' ')];
}

async function save(call: CommandCall): Promise<number> {
  const log = await requestExport(call);
  const file = stringOption(call.options, 'output');
  if (file === null) {
    await pipeline(log, call.terminal.out, { end: false });
    return exitCodes.ok;
  }
  await pipeline(log, createWriteStream(resolve(file)));
  if (call.asJson) printJson(call, { file: resolve(file) });
  else print(call, resolve(file));
  return exitCodes.ok;
}

async function verifyAudit(call: CommandCall): Promise<number> {
  const expected = expectedHead(call);
  const keys = await keysFor(call, expected);
  const tenant = stringOption(call.options, 'tenant')?.toLowerCase() ?? null;
  const verdict = await checkAudit(linesOf(await openLog(call)), { keys, head: expected, tenant });
  if (!verdict.ok) {
    if (call.asJson) printJson(call, verdict);
    throw new CliFailure(`The log is not what was recorded: ${verdict.text}.`, exitCodes.failed);
  }
  const { head } = verdict;
  if (call.asJson) {
    printJson(call, { ok: true, tenant: head.tenant, records: head.number, head: head.hash, signed: keys !== null });
    return exitCodes.ok;
  }
  const signature = keys === null ? 'signature not checked (--keys)' : `signed ${head.signedAt}`;
  print(call, `${count(head.number, 'record')} of ${head.tenant}, unbroken; ${signature}\nhead ${head.hash}`);
  return exitCodes.ok;
}

function expectedHead(call: CommandCall): string | null {
  const given = stringOption(call.options, 'expect-head');
  if (given !== null && !/^[0-9a-f]{64}$/i.test(given)) throw usageFailure('--expect-head: a hash has 64 hex digits');
  return given?.toLowerCase() ?? null;
}

/** A file with an expected head needs no server; otherwise the server is asked for its keys. */
async function keysFor(call: CommandCall, expected: string | null): Promise<readonly AuditKey[] | null> {
  const file = stringOption(call.options, 'keys');
  if (file === null && expected !== null && stringOption(call.options, 'file') !== null) return null;
  return auditKeys(call);
}

async function openLog(call: CommandCall): Promise<AsyncIterable<Uint8Array>> {
  const file = stringOption(call.options, 'file');
  if (file === null) return requestExport(call);
  const stream = createReadStream(file);
  await once(stream, 'open').catch(unreadable('--file: ', file));
  return stream;
}

/** Only a line feed ends a line of an export: texts inside it may hold other line separators. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of bytes) {
    const lines = `${rest}${decoder.decode(piece, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
