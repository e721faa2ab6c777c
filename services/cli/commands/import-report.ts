import { type CommandCall, isSet } from '../command.ts';
import { count, harmless, note, print, printJson } from '../output.ts';
import { CliFailure, exitCodes } from '../terminal.ts';

export interface Report {
  items: number;
  known: number;
  entries: number;
  sessions: number;
  users: number;
  grants: number;
  readonly failed: { readonly what: string; readonly reason: string }[];
  readonly leftBehind: Set<string>;
  readonly invitations: { readonly email: string; readonly link: string | null }[];
}

export function createReport(): Report {
  return {
    items: 0,
    known: 0,
    entries: 0,
    sessions: 0,
    users: 0,
    grants: 0,
    failed: [],
    leftBehind: new Set(),
    invitations: [],
  };
}

export function printReport(call: CommandCall, report: Report): void {
  const { items, known, sessions, entries, users, grants, failed, leftBehind, invitations } = report;
  if (call.asJson) {
    printJson(call, {
      items,
      already_there: known,
      sessions,
      entries,
      users,
      grants,
      failed,
      left_behind: [...leftBehind],
      invitations,
    });
    return;
  }
  for (const { what, reason } of failed) note(call, `failed: ${harmless(what)}: ${reason}`);
  for (const reason of leftBehind) note(call, `not carried over: ${reason}`);
  const verb = isSet(call.options, 'dry-run') ? 'would be brought over' : 'brought over';
  const parts = [`${count(items, 'item')} ${verb}`];
  if (known > 0) parts.push(`${known} already there`);
  if (sessions > 0) parts.push(`${count(sessions, 'session')} with ${count(entries, 'new turn')}`);
  if (users + grants > 0) parts.push(`${count(users, 'user')}, ${count(grants, 'permission')}`);
  if (failed.length > 0) parts.push(`${failed.length} failed`);
  print(call, parts.join(', '));
}

export function reasonOf(error: unknown): string {
  if (error instanceof CliFailure && error.exitCode !== exitCodes.unreachable) return error.message;
  throw error;
}
