import {
  ActionIcon,
  Alert,
  Anchor,
  Badge,
  Box,
  Button,
  Code,
  Collapse,
  CopyButton,
  Group,
  Loader,
  Paper,
  Stack,
  Table,
  Text,
  Tooltip,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { NOTHING_FITS } from '../../../common/text/repetition/own-answers.ts';
import { engram } from '../api.ts';
import type { OpenedDocument } from '../document.tsx';
import { plural } from '../format.ts';
import { IconCheck, IconCopy, IconFileText, IconThumbDown, IconThumbUp } from '../icons.ts';
import { usePermitted } from '../queries.ts';
import { complain, Failed, say } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';
import type { Turn } from './page.tsx';
import { type Explanation, type Finding, passageOf, type Source, sourcesOf } from './recall.ts';

/** A stored answer and what the person thinks of it. */
export interface Rated {
  readonly session: string;
  readonly dataset: string | null;
  readonly ids: readonly string[];
  readonly score: number | null;
}

interface TurnProps {
  readonly turn: Turn;
  /** The session of the page. */
  readonly conversation: string | undefined;
  onOpen(document: OpenedDocument): void;
}

const STAGES: Readonly<Record<string, string>> = {
  retrieving: 'Looking for passages',
  generating: 'Writing the answer',
};

export function TurnView({ turn, conversation, onOpen }: TurnProps) {
  const { question, stage, text, findings, error, rated } = turn;
  return (
    <Stack gap="xs" component="article" aria-label={question}>
      <Paper bg="var(--mantine-primary-color-light)" px="md" py="xs" style={{ alignSelf: 'flex-end' }} maw="85%">
        <Text className="answer">{question}</Text>
      </Paper>
      {stage === null ? null : (
        <Group gap="xs">
          <Loader size="xs" />
          <Text size="sm" c="dimmed">
            {STAGES[stage] ?? stage}
          </Text>
        </Group>
      )}
      {error === null ? null : <Failed error={error} />}
      {findings === null ? (
        text === '' ? null : (
          <Answer text={text} />
        )
      ) : (
        <Findings findings={findings} onOpen={onOpen} />
      )}
      {stage === null && (findings !== null || text !== '') ? (
        <Group gap={4}>
          <CopyButton value={findings?.map((finding) => finding.text).join('\n\n') ?? text}>
            {({ copied, copy }) => (
              <Tooltip label={copied ? 'Copied' : 'Copy'}>
                <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label="Copy the answer">
                  {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
                </ActionIcon>
              </Tooltip>
            )}
          </CopyButton>
          {rated === null ? null : <Rating rated={rated} />}
        </Group>
      ) : null}
      {rated === null || rated.session === conversation ? null : (
        <Text size="xs" c="dimmed">
          This conversation is about another dataset: the answer is kept in{' '}
          <Anchor component={Link} to={`/sessions/${rated.session}`} size="xs" underline="always">
            the session of its own
          </Anchor>
          .
        </Text>
      )}
    </Stack>
  );
}

const FENCED = /^[ \t]*(?:```+|~~~+)[^\n]*\n([\s\S]*?)^[ \t]*(?:```+|~~~+)[ \t]*$/gmu;

/** The text of an answer, with the code between fences in it set apart. */
function Answer({ text }: { readonly text: string }) {
  const blocks = text.split(FENCED).map((block, place) => ({ block, place, isCode: place % 2 === 1 }));
  return (
    <Stack gap="xs">
      {blocks.map(({ block, place, isCode }) => {
        if (isCode)
          return (
            <Code key={place} block>
              {block.trimEnd()}
            </Code>
          );
        const prose = block.trim();
        return prose === '' ? null : (
          <Text key={place} className="answer">
            {prose}
          </Text>
        );
      })}
    </Stack>
  );
}

function Rating({ rated }: { readonly rated: Rated }) {
  const [score, setScore] = useState(rated.score);
  const writable = usePermitted('write');
  // A rating is written into the dataset of the conversation.
  if (rated.dataset === null || !writable.has(rated.dataset)) return null;
  const rate = async (next: number) => {
    const before = score;
    setScore(next);
    try {
      for (const id of rated.ids) {
        await engram.post('/api/v1/remember/entry', {
          body: {
            entry: { type: 'feedback', qa_id: id, feedback_score: next },
            session_id: rated.session,
            dataset_id: rated.dataset ?? undefined,
          },
        });
      }
      say('Thank you. Improve learns from ratings.');
    } catch (error) {
      setScore(before);
      complain(error);
    }
  };
  const isGood = score !== null && score > 3;
  const isBad = score !== null && score < 3;
  return (
    <>
      <ActionIcon
        variant={isGood ? 'light' : 'subtle'}
        color={isGood ? 'teal' : 'gray'}
        aria-pressed={isGood}
        aria-label="Good answer"
        onClick={() => void rate(5)}
      >
        <IconThumbUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant={isBad ? 'light' : 'subtle'}
        color={isBad ? 'red' : 'gray'}
        aria-pressed={isBad}
        aria-label="Bad answer"
        onClick={() => void rate(1)}
      >
        <IconThumbDown size={16} />
      </ActionIcon>
    </>
  );
}

interface FindingsProps {
  readonly findings: readonly Finding[];
  onOpen(document: OpenedDocument): void;
}

function Findings({ findings, onOpen }: FindingsProps) {
  if (findings.length === 0) {
    return <Text c="dimmed">Nothing was found. Other words, another dataset or another kind of search may help.</Text>;
  }
  const isRows = findings.some((finding) => passageOf(finding) !== null);
  if (isRows) {
    const passages = findings.flatMap((finding) => passageOf(finding) ?? []);
    return <Sources sources={passages} title={`${plural(passages.length, 'passage')} found`} onOpen={onOpen} />;
  }
  const several = new Set(findings.map(({ dataset_id: id }) => id)).size > 1;
  return (
    <Stack gap="lg">
      {findings.map((finding) => {
        if (finding.source === 'system') {
          return (
            <Alert key={finding.source} color="yellow" title="Nothing to search yet">
              {finding.text}
            </Alert>
          );
        }
        const sources = sourcesOf(finding);
        return (
          <Stack key={`${finding.dataset_id} ${finding.text}`} gap="xs">
            {several ? (
              <Badge variant="light" tt="none">
                {finding.dataset_name}
              </Badge>
            ) : null}
            <Answer text={finding.text} />
            {finding.metadata?.nearest === undefined ? null : (
              <Text size="sm" c="dimmed" className="answer">
                Nearest: {finding.metadata.nearest.join('\n')}
              </Text>
            )}
            {sources.length === 0 ? null : finding.text === NOTHING_FITS ? (
              <Sources sources={sources} title="Nearest passages" first={0} onOpen={onOpen} />
            ) : (
              <Sources sources={sources} title="Sources" onOpen={onOpen} />
            )}
          </Stack>
        );
      })}
    </Stack>
  );
}

const FIRST = 4;

interface SourcesProps {
  readonly sources: readonly Source[];
  readonly title: string;
  /** How many are shown before somebody asks for all. */
  readonly first?: number;
  onOpen(document: OpenedDocument): void;
}

function Sources({ sources, title, first = FIRST, onOpen }: SourcesProps) {
  const [all, setAll] = useState(false);
  const shown = all ? sources : sources.slice(0, first);
  return (
    <Stack gap={6} component="section" aria-label={title}>
      {shown.length === 0 ? null : (
        <Text size="sm" fw={600} c="dimmed">
          {title}
        </Text>
      )}
      {shown.map((source) => (
        <SourceCard key={source.id} source={source} onOpen={onOpen} />
      ))}
      {sources.length > first ? (
        <Button variant="subtle" size="compact-sm" w="fit-content" onClick={() => setAll(!all)} aria-expanded={all}>
          {all
            ? 'Show fewer'
            : first === 0
              ? `Show the nearest passages (${sources.length})`
              : `Show all ${sources.length}`}
        </Button>
      ) : null}
    </Stack>
  );
}

/** Headings of Markdown stand in the name of the source already. */
const withoutHeadings = (text: string): string => text.replaceAll(/^#{1,6} .*$/gmu, '').trim() || text;

function SourceCard({ source, onOpen }: { readonly source: Source; onOpen(document: OpenedDocument): void }) {
  const { document, text, quoted, why } = source;
  const [isOpen, { toggle }] = useDisclosure();
  const open = () => onOpen({ dataset: source.dataset, item: source.item, name: document, passage: quoted ?? text });
  return (
    <Paper withBorder p="xs">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconFileText size={14} />}
          onClick={open}
          aria-label={`Open the passage in ${document}`}
          styles={{ label: { overflow: 'hidden', textOverflow: 'ellipsis' } }}
        >
          {document}
        </Button>
        <Group gap={6} wrap="nowrap">
          {quoted === null ? null : (
            <StateBadge size="sm" color="green">
              Quoted
            </StateBadge>
          )}
          {why === null ? null : (
            <Button variant="default" size="compact-xs" onClick={toggle} aria-expanded={isOpen}>
              Why this?
            </Button>
          )}
        </Group>
      </Group>
      <Text size="sm" c="dimmed" className="excerpt" px={8} mt={2}>
        {quoted ?? withoutHeadings(text)}
      </Text>
      {why === null ? null : (
        <Collapse expanded={isOpen}>
          <Why why={why} />
        </Collapse>
      )}
    </Paper>
  );
}

const LANES: Readonly<Record<string, string>> = {
  lexical: 'Words of the question',
  dense: 'Similar vectors',
  entity: 'Names in the question',
  meaning: 'Words of the same meaning',
  sentence: 'Sentences that fit',
  graph: 'Walk through the graph',
  temporal: 'Dates in the question',
  date: 'Dates in the question',
};

const figure = (value: number): string => value.toLocaleString(undefined, { maximumSignificantDigits: 3 });

function Why({ why }: { readonly why: Explanation }) {
  const lanes = Object.entries(why.lanes).toSorted(([, one], [, other]) => one.rank - other.rank);
  return (
    <Box mt="xs" px={8}>
      <DataTable
        label="Why this passage was found"
        minWidth={300}
        columns={['Found by', { head: 'Rank', ta: 'right' }, { head: 'Score', ta: 'right' }]}
        withRowBorders={false}
        verticalSpacing={2}
        fz="xs"
      >
        {lanes.map(([lane, { rank, score }]) => (
          <Table.Tr key={lane}>
            <Table.Td>{LANES[lane] ?? lane}</Table.Td>
            <Table.Td ta="right">{rank}</Table.Td>
            <Table.Td ta="right">{figure(score)}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <Text size="xs" c="dimmed" mt={4}>
        All lanes together {figure(why.fusion_score)} · the passage alone {figure(why.own_score)} · as evidence{' '}
        {figure(why.evidence_score)}
        {why.completed_by === null ? '' : ' · completes another passage'}
        {why.via_entity === null ? '' : ` · reached through ${why.via_entity}`}
      </Text>
    </Box>
  );
}
