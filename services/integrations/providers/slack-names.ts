import type { SourceAccess } from './connector.ts';
import { type SlackApi, SlackRefusedError } from './slack-api.ts';

const NAMES_KEPT_MS = 3_600_000;
const MAX_NAMES = 20_000;

/** Names of people and channels, kept for an hour: an import that goes on after a wait does not ask again. */
export function createSlackNames(api: SlackApi) {
  const known = new Map<string, { readonly name: Promise<string | null>; readonly untilMs: number }>();
  const kept = (key: string, ask: () => Promise<string | null>): Promise<string | null> => {
    const before = known.get(key);
    if (before !== undefined && before.untilMs > Date.now()) return before.name;
    if (known.size >= MAX_NAMES) known.clear();
    // Slack may refuse one by one: somebody is gone, or the app lacks the scope.
    const name = ask().catch((error: unknown) => {
      if (error instanceof SlackRefusedError) return null;
      known.delete(key);
      throw error;
    });
    known.set(key, { name, untilMs: Date.now() + NAMES_KEPT_MS });
    return name;
  };
  const ask = async <T>(access: SourceAccess, method: string, parameters: object): Promise<T> =>
    api.request<T>(method, parameters, { token: await access.token(), signal: access.signal });
  return {
    async channel(access: SourceAccess, id: string): Promise<string> {
      const name = await kept(`${access.connection.accountId}:${id}`, async () => {
        const { channel } = await ask<{ channel?: { name?: string } }>(access, 'conversations.info', { channel: id });
        return channel?.name ?? null;
      });
      return name ?? id;
    },
    async people(access: SourceAccess, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
      const found = new Map<string, string>();
      for (const id of ids) {
        const name = await kept(`${access.connection.accountId}:${id}`, async () => {
          const { user } = await ask<{ user?: SlackUser }>(access, 'users.info', { user: id });
          const { real_name: real, profile, name: handle } = user ?? {};
          return [profile?.real_name, real, profile?.display_name, handle].find((one) => one?.trim()) ?? null;
        });
        if (name !== null) found.set(id, name);
      }
      return found;
    },
  };
}

interface SlackUser {
  readonly name?: string;
  readonly real_name?: string;
  readonly profile?: { readonly real_name?: string; readonly display_name?: string };
}
