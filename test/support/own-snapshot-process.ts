import type { Stores } from '../../services/app/stores.ts';
import { startManagedApp } from './managed-app.ts';

/** Started by a test that kills it: sends one request over HTTP, on the data directory of its environment, and says `write` before every write. */
const [path = '', body = '{}'] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

function telling(stores: Stores): Stores {
  const told = <Port extends object>(port: Port, name: keyof Port): Port => {
    const call = port[name] as (...values: unknown[]) => unknown;
    const telling = (...values: unknown[]) => {
      say('write');
      return call(...values);
    };
    return { ...port, [name]: telling };
  };
  return { ...stores, blobs: told(stores.blobs, 'put'), documents: told(stores.documents, 'commit') };
}

const settings = { ENGRAM_DATA_DIR: process.env['ENGRAM_DATA_DIR'] ?? '', REQUIRE_AUTHENTICATION: 'false' };
const app = await startManagedApp(settings, telling);
say('begun');
const headers = { 'content-type': 'application/json', 'idempotency-key': path };
const answer = await fetch(`${app.baseUrl}/api/v1${path}`, { method: 'POST', headers, body });
say(`end ${answer.status} ${await answer.text()}`);
await app.stop();
