import type { SkillText } from '../../common/domain/skill.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type FrontMatter, splitFrontMatter } from './front-matter.ts';

/** Spellings in which authors write a field (ingest.md §7.1); the first that is there holds. */
const DESCRIPTION = ['description', 'summary', 'short_description', 'about'];
const TOOLS = ['allowed-tools', 'allowed_tools', 'declared_tools', 'tools'];
const MAINTAINER = ['maintainer', 'company', 'author', 'publisher', 'vendor', 'org'];
const MAINTAINER_URL = ['maintainer_url', 'maintainer-url', 'url', 'homepage', 'website'];
const SOURCE_REPO_URL = ['source_repo_url', 'source-repo-url', 'repository', 'repo_url', 'repo'];
const VERSION = ['version', 'ver'];
const TAGS = ['tags', 'categories', 'labels'];
const LICENSE = ['license', 'licence'];
const ACTIVE = ['is_active', 'active', 'enabled'];

const MAX_DESCRIPTION_LENGTH = 500;
const MAX_FIELD_LENGTH = 4000;
const MAX_NAME_LENGTH = 200;
/** A procedure is read before a task. */
const MAX_SKILL_BYTES = 256 * 1024;

/** A skill from its text; `name` stands above what the text calls itself. `PayloadTooLargeError`, `InvalidRequestError`. */
export function readSkill(name: string, text: string): SkillText {
  const size = Buffer.byteLength(text);
  if (size > MAX_SKILL_BYTES) {
    throw engramError('PayloadTooLargeError', `A skill is limited to ${MAX_SKILL_BYTES} bytes; this one has ${size}.`);
  }
  const { fields, body } = splitFrontMatter(text);
  const procedure = body.trim();
  const field = (names: readonly string[]) => textOf(fields, names).slice(0, MAX_FIELD_LENGTH);
  return {
    name: checkedName(name),
    description: field(DESCRIPTION) || firstParagraph(procedure),
    maintainer: field(MAINTAINER),
    maintainerUrl: field(MAINTAINER_URL),
    version: field(VERSION),
    license: field(LICENSE),
    sourceRepoUrl: field(SOURCE_REPO_URL),
    tags: listOf(fields, TAGS),
    declaredTools: listOf(fields, TOOLS),
    isActive: !/^(?:false|no|off|0)$/iu.test(textOf(fields, ACTIVE)),
    procedure,
  };
}

/** Name of the skill in the front matter; '' when there is none. */
export function declaredName(text: string): string {
  return textOf(splitFrontMatter(text).fields, ['name', 'title']).trim();
}

function checkedName(name: string): string {
  const trimmed = name.trim();
  const isReadable = trimmed !== '' && trimmed !== '.' && trimmed !== '..' && !/[\p{Cc}\p{Cs}/\\]/u.test(trimmed);
  if (isReadable && trimmed.length <= MAX_NAME_LENGTH) return trimmed;
  throw engramError(
    'InvalidRequestError',
    `The name of a skill has 1 to ${MAX_NAME_LENGTH} characters, without control characters and slashes.`,
  );
}

function textOf(fields: FrontMatter, names: readonly string[]): string {
  for (const name of names) {
    const value = fields.get(name);
    if (value !== undefined && value.length > 0) return typeof value === 'string' ? value : value.join(', ');
  }
  return '';
}

/** A list, or a text with commas; a comma in parentheses belongs to the entry. */
function listOf(fields: FrontMatter, names: readonly string[]): readonly string[] {
  for (const name of names) {
    const value = fields.get(name);
    if (value === undefined || value.length === 0) continue;
    const entries = typeof value === 'string' ? parts(value) : value;
    return [
      ...new Set(entries.map((entry) => entry.trim().slice(0, MAX_FIELD_LENGTH)).filter((entry) => entry !== '')),
    ];
  }
  return [];
}

/** Between commas that no closing parenthesis follows before an opening one; from the end, in one pass. */
function parts(text: string): readonly string[] {
  const found: string[] = [];
  let end = text.length;
  let isInParentheses = false;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const char = text[at];
    if (char === ')') isInParentheses = true;
    else if (char === '(') isInParentheses = false;
    else if (char === ',' && !isInParentheses) {
      found.push(text.slice(at + 1, end));
      end = at;
    }
  }
  found.push(text.slice(0, end));
  return found.toReversed();
}

/** The first paragraph that is no heading, rule or code, without its marks. */
function firstParagraph(markdown: string): string {
  const withoutCode = markdown.slice(0, 20_000).replaceAll(/^(?:```|~~~)[\s\S]*?^(?:```|~~~)[^\n]*$/gmu, '');
  for (const block of withoutCode.split(/\n[ \t]*\n/u)) {
    const lines = block
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^\s{0,3}(?:#{1,6}\s|[-*_=]{3,}\s*$)/u.test(line));
    const text = plainText(lines.join(' '));
    if (text !== '') return cutText(text);
  }
  return '';
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\][]*)\]\([^()]*\)/gu, '$1')
    .replaceAll(/[`*_~]+(?=\S)|(?<=\S)[`*_~]+/gu, (marks) => (/^_$/u.test(marks) ? '_' : ''))
    .replaceAll(/(^|\s)(?:>|[-*+]|\d{1,9}[.)])\s+/gu, '$1')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

function cutText(text: string): string {
  return text.length <= MAX_DESCRIPTION_LENGTH ? text : text.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed().trimEnd();
}
