import type { Json } from '../../common/kernel/json.ts';
import type { ChangePage, PresentDocument, SourceAccess, SourceDocument } from './connector.ts';
import { type GitHead, readGitHead } from './git-remote.ts';

/** Where the wiki of a repository is read, and where people read it. */
interface WikiPlace {
  readonly cloneUrl: string;
  readonly pageUrl: string;
  readonly token: string;
}

const PER_PAGE = 100;
/** Forms of text that GitHub shows as pages. Sidebars and footers are none. */
const PAGE =
  /^(?:.*\/)?([^/_][^/]*)\.(md|markdown|mdown|mkdn?|txt|asciidoc|adoc|asc|creole|mediawiki|wiki|org|pod|rdoc|re?st|textile)$/i;

/** Reads the wikis of repositories: GitHub has no API of them, they are repositories of Git themselves. */
export function createWikis(placeOf: (access: SourceAccess, repository: string) => Promise<WikiPlace>) {
  /** The wiki that an import reads now. */
  const read = new WeakMap<SourceAccess, { readonly repository: string; readonly head: GitHead | null }>();
  const headOf = async (access: SourceAccess, repository: string, known: string | null) => {
    const { cloneUrl, token } = await placeOf(access, repository);
    const head = await readGitHead(cloneUrl, { token, signal: access.signal, known });
    if (head !== 'unchanged') read.set(access, { repository, head });
    return head;
  };
  return {
    async *changes(access: SourceAccess, repository: string, before: Json): AsyncGenerator<ChangePage> {
      const head = await headOf(access, repository, before as string | null);
      if (head === 'unchanged') return;
      const pages = [...(head?.files ?? [])].filter(([path, { content }]) => PAGE.test(path) && content.length > 0);
      const present = pages.map(([key, { sha }]) => ({ key, version: sha }));
      for (let at = 0; at < present.length || at === 0; at += PER_PAGE) {
        const isLast = at + PER_PAGE >= present.length;
        const page = { present: present.slice(at, at + PER_PAGE), gone: [], total: present.length };
        yield isLast ? { ...page, cursor: head?.commit ?? null, isWhole: true } : { ...page, cursor: before };
      }
    },
    async document(access: SourceAccess, { resource, key }: PresentDocument): Promise<SourceDocument | null> {
      const known = read.get(access);
      const head = known?.repository === resource ? known.head : await headOf(access, resource, null);
      const file = head === 'unchanged' ? undefined : head?.files.get(key);
      if (file === undefined) return null;
      const { pageUrl } = await placeOf(access, resource);
      const [, name = key, form = ''] = PAGE.exec(key) ?? [];
      return {
        fileName: `${name}.${form}`,
        mimeType: /^m/i.test(form) && form !== 'mediawiki' ? 'text/markdown' : 'text/plain',
        content: file.content,
        version: file.sha,
        uri: `${pageUrl}/${encodeURIComponent(name)}`,
      };
    },
  };
}
