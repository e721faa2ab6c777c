import { expect } from 'chai';
import { runCommand } from './run-command.ts';
import { until } from './until.ts';
import type { Wire } from './wire.ts';

/** Waits for the end of an import, other than the one that ended at `after`, and returns the connection. */
export async function settled({ get }: Wire, provider: string, after: unknown = null) {
  let found: Record<string, unknown> = {};
  await until('the end of the import', async () => {
    found = (await get(`/integrations/${provider}/connection`)).json;
    return found['connected'] === false || (found['syncStatus'] !== 'syncing' && found['lastSyncedAt'] !== after);
  });
  return found;
}

/** Has a source synced, and waits for the end. */
export async function synced(wire: Wire, provider: string) {
  const { lastSyncedAt } = (await wire.get(`/integrations/${provider}/connection`)).json;
  expect((await wire.post(`/integrations/${provider}/sync`, {})).json).to.deep.equal({ accepted: true });
  return settled(wire, provider, lastSyncedAt);
}

/** Connects as a browser does: `install` gives the query with which the provider sends it back. Returns where it ends. */
export async function connectAccount(
  baseUrl: string,
  provider: string,
  install: (authorizeUrl: string) => URLSearchParams | string,
): Promise<string | null> {
  const begun = await fetch(`${baseUrl}/api/v1/integrations/${provider}/authorize`, { method: 'POST' });
  const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
  const back = await fetch(`${baseUrl}/api/v1/integrations/${provider}/callback?${install(authorizeUrl)}`, {
    redirect: 'manual',
    headers: { cookie },
  });
  return back.headers.get('location');
}

/** Texts of the items of a dataset by their names. */
export async function textsOf({ get }: Wire, dataset: unknown): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { id, name } of (await get(`/datasets/${dataset}/data`)).json as { id: string; name: string }[]) {
    texts.set(name, (await get(`/datasets/${dataset}/data/${id}/raw`)).text);
  }
  return texts;
}

/** Exit code and output of `engram integrations …`, on one line of words. */
export async function commandLine(baseUrl: string, line: string): Promise<string> {
  const environment = { HOME: '/nowhere' };
  const { code, out, err } = await runCommand(['integrations', ...line.split(' '), '--url', baseUrl], { environment });
  return `${code} ${out}${err}`;
}
