/** Commits two documents at a time until it is killed, and prints the number of each commit that was acknowledged. */
import { once } from 'node:events';
import { asId } from '../../../../kernel/ids.ts';
import { type Collection, insert } from '../../../ports/document-store.ts';
import { openSqliteDocumentStore } from '../document-store.ts';

const notes: Collection<Readonly<Record<string, never>>> = {
  name: 'notes',
  level: 'tenant',
  indexes: [{ fields: ['title'] }],
};
const store = await openSqliteDocumentStore({ file: process.argv[2] ?? '', autoMigrate: true });
await store.prepare([notes]);
for (let number = 1; ; number += 1) {
  await store.commit({ tenant: asId('t') }, [insert(notes, `${number}-a`, {}), insert(notes, `${number}-b`, {})]);
  // Waits for a reader that is slow; `writeSync` would fail with EAGAIN once the pipe is full.
  if (!process.stdout.write(`${number}\n`)) await once(process.stdout, 'drain');
}
