/** Of what a session becomes, as clients see it. A session may be called anything; a slash would end a folder's name. */
export function sessionFileName(session: string, what: string): string {
  return `session ${session.replaceAll(/[\\/]/g, '_')} ${what}.txt`;
}
