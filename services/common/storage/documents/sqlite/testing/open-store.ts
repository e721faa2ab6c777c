/** Opens the store of the file named and prints why it cannot be, or `opened`. */
import { openSqliteDocumentStore } from '../document-store.ts';

try {
  await (await openSqliteDocumentStore({ file: process.argv[2] ?? '', autoMigrate: true })).close();
  process.stdout.write('opened');
} catch (error) {
  process.stdout.write(String(error));
}
