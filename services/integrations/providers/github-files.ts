import type { PresentDocument, SourceAccess, SourceDocument } from './connector.ts';
import { type GithubApi, PER_PAGE, type Repository } from './github-api.ts';

const MAX_FILE_BYTES = 1024 * 1024;

/** Files on the default branches of repositories. */
export function createFiles({ ask, found, repositoryOf }: GithubApi) {
  async function* filesSince(access: SourceAccess, repository: string, before: string | null) {
    const { default_branch: branch } = await ask<Repository>(access, `/repositories/${repository}`);
    const head = await found<{ readonly sha: string }>(access, `/repositories/${repository}/commits/${branch}`);
    if (head !== null && head.sha === before) return;
    const tree =
      head === null
        ? null
        : await ask<Tree>(access, `/repositories/${repository}/git/trees/${head.sha}`, { recursive: '1' });
    const files = (tree?.tree ?? []).filter(isWanted).map(({ path, sha }) => ({ key: path, version: sha }));
    for (let at = 0; at < files.length || at === 0; at += PER_PAGE) {
      const isLast = at + PER_PAGE >= files.length;
      const page = { present: files.slice(at, at + PER_PAGE), gone: [], total: files.length };
      // A tree that GitHub cut off does not say what is gone.
      const whole = isLast && tree?.truncated !== true ? { isWhole: true as const } : {};
      yield { ...page, cursor: isLast ? (head?.sha ?? null) : before, ...whole };
    }
  }

  const fileDocument = async (access: SourceAccess, file: PresentDocument): Promise<SourceDocument | null> => {
    const { resource, key, version } = file;
    const path = `/repositories/${resource}/git/blobs/${version}`;
    const content = await found<ArrayBuffer>(access, path, { mediaType: { format: 'raw' } });
    if (content === null || version === null) return null;
    const { html_url: url, default_branch: branch } = await repositoryOf(access, resource);
    const uri = `${url}/blob/${branch}/${key.split('/').map(encodeURIComponent).join('/')}`;
    return { fileName: key.split('/').at(-1) ?? key, mimeType: null, content: bytesOf(content), version, uri };
  };
  return { changes: filesSince, document: fileDocument };
}

interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly sha: string;
  readonly size?: number;
}

interface Tree {
  readonly tree: readonly TreeEntry[];
  readonly truncated: boolean;
}

const LEFT_OUT =
  /(^|\/)(node_modules|vendor|third_party|dist|build|\.git|\.idea|\.vscode)\/|\.min\.(js|css)$|(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|go\.sum)$/i;
const BINARY =
  /\.(png|jpe?g|gif|svg|webp|ico|bmp|mp[34]|webm|mov|avi|wav|ogg|woff2?|ttf|eot|otf|zip|gz|tgz|bz2|xz|7z|jar|war|class|exe|dll|so|dylib|a|o|bin|wasm|pyc|map|snap)$/i;

function isWanted({ type, path, size = 0 }: TreeEntry): boolean {
  return type === 'blob' && size > 0 && size <= MAX_FILE_BYTES && !LEFT_OUT.test(path) && !BINARY.test(path);
}

function bytesOf(content: ArrayBuffer | string): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
}
