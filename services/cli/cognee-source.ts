import { ApiError, createEngram, type EngramOptions, NoAnswer } from '../client/index.ts';
import { CliFailure, exitCodes } from './terminal.ts';

export interface SourceDataset {
  readonly id: string;
  readonly name: string;
}

export interface SourceItem {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly extension: string | null;
  readonly mimeType: string | null;
  readonly label: string | null;
  readonly externalMetadata: Readonly<Record<string, unknown>> | null;
}

interface SessionEntry {
  readonly time?: string;
  readonly question?: string;
  readonly context?: string;
  readonly answer?: string;
  readonly feedback_text?: string | null;
  readonly feedback_score?: number | null;
}

export interface SourceSession {
  readonly session_id: string;
  readonly dataset_id: string | null;
  readonly qas?: readonly SessionEntry[];
  readonly traces?: readonly Readonly<Record<string, unknown>>[];
}

export interface SourceUser {
  readonly id: string;
  readonly email: string;
}

export const PERMISSIONS = ['read', 'write', 'delete', 'share'] as const;
type PermissionName = (typeof PERMISSIONS)[number];

/** Where an import reads from. */
export interface ImportSource extends AsyncDisposable {
  /** For messages. */
  readonly name: string;
  /** Names the ids of the items. */
  readonly system: string;
  /** Parts of this source that an import does not bring over. */
  readonly leftBehind: readonly string[];
  /** Parts that cannot be read. */
  readonly refused?: readonly { readonly name: string; readonly reason: string }[];
  datasets(): Promise<readonly SourceDataset[]>;
  items(dataset: string): AsyncIterable<SourceItem>;
  /** The bytes that were added. */
  original(dataset: string, item: string): Promise<Blob>;
  /** Null: the source knows no sessions and users. */
  readonly people: SourcePeople | null;
}

export interface SourcePeople {
  sessions(): AsyncIterable<SourceSession>;
  session(id: string): Promise<SourceSession>;
  /** Members of the tenants of the account. */
  users(): Promise<readonly SourceUser[]>;
  /** Datasets on which a user has a permission. */
  permitted(user: string, permission: PermissionName): Promise<readonly SourceDataset[]>;
}

const PAGE = 500;

/** Reads a server with cognee's HTTP API (1.5 or later): what the account of the key may see. Errors: `CliFailure`. */
export function createCogneeSource(settings: EngramOptions): ImportSource {
  const source = createEngram(settings);
  const get = (path: string): Promise<Response> =>
    source.send('GET', `/api/v1${path}`).catch((error: unknown) => {
      throw failureOf(error, settings.baseUrl, path);
    });
  const json = async <T>(path: string): Promise<T> => (await (await get(path)).json()) as T;
  return {
    name: settings.baseUrl,
    system: 'cognee',
    leftBehind: ['graphs and vectors: they are built anew by cognify'],
    people: readPeople(json),
    [Symbol.asyncDispose]: async () => {},
    datasets: () => json('/datasets'),
    async *items(dataset) {
      for (let offset = 0; ; offset += PAGE) {
        const page = await json<readonly SourceItem[]>(`/datasets/${dataset}/data?limit=${PAGE}&offset=${offset}`);
        yield* page;
        // Releases before 1.6 ignore the limit and answer all items at once.
        if (page.length !== PAGE) return;
      }
    },
    original: async (dataset, item) => (await get(`/datasets/${dataset}/data/${item}/raw`)).blob(),
  };
}

function readPeople(json: <T>(path: string) => Promise<T>): SourcePeople {
  return {
    async *sessions() {
      for (let offset = 0; ; offset += PAGE) {
        const page = await json<{ sessions: readonly SourceSession[]; has_more: boolean }>(
          `/sessions?range=all&order_by=started_at&descending=false&limit=${PAGE}&offset=${offset}`,
        );
        yield* page.sessions;
        if (!page.has_more) return;
      }
    },
    session: (id) => json(`/sessions/${encodeURIComponent(id)}`),
    async users() {
      const byId = new Map<string, SourceUser>();
      for (const { id } of await json<readonly { id: string }[]>('/permissions/tenants/me')) {
        for (const user of await json<readonly SourceUser[]>(`/permissions/tenants/${id}/users`))
          byId.set(user.id, user);
      }
      return [...byId.values()];
    },
    permitted: (user, permission) =>
      json<readonly SourceDataset[]>(`/permissions/principals/${user}/datasets?permission_name=${permission}`).catch(
        (error: unknown) => {
          // An account without a current tenant shares nothing.
          if (error instanceof CliFailure && error.message.includes('TenantNotFoundError')) return [];
          throw error;
        },
      ),
  };
}

/** Says at which server it was, and what to do. */
function failureOf(error: unknown, baseUrl: string, path: string): unknown {
  if (error instanceof NoAnswer) {
    const message = `No server answers at ${baseUrl} (--from): ${error.reason}.`;
    return new CliFailure(message, exitCodes.unreachable, { cause: error });
  }
  if (!(error instanceof ApiError)) return error;
  const { status, detail } = error;
  const hint = status === 401 ? ' Give a key of that server with --from-key or COGNEE_API_KEY.' : '';
  return new CliFailure(`${baseUrl} refused GET ${path} (${status}): ${detail}${hint}`, exitCodes.failed, {
    cause: error,
  });
}
