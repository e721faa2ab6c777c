import { ActionIcon, Button, Group, Paper, Select, Stack, Textarea } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { type Answer, type DatasetDTO, NotFound, type SearchType } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { DocumentDrawer, type OpenedDocument } from '../document.tsx';
import { IconArrowUp, IconPlus, IconX } from '../icons.ts';
import { datasetsQuery, progressQuery } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { Empty, Failed, Waiting } from '../states.tsx';
import { FirstSteps } from './first-steps.tsx';
import { History } from './history.tsx';
import { ask, type Finding } from './recall.ts';
import { type Rated, TurnView } from './turn.tsx';

type AnswerSources = Answer<'/api/v1/recall/sources', 'get'>[number];

export interface Turn {
  readonly key: string;
  readonly question: string;
  readonly stage: string | null;
  readonly text: string;
  readonly findings: readonly Finding[] | null;
  readonly error: Error | null;
  readonly rated: Rated | null;
}

/** Search types that a person can choose; the server takes more types, which belong to agents and programs. */
const TYPES = [
  { value: 'GRAPH_COMPLETION', label: 'Answer' },
  { value: 'AUTO', label: 'Automatic' },
  { value: 'RAG_COMPLETION', label: 'Answer from passages only' },
  { value: 'CHUNKS', label: 'Passages' },
  { value: 'CHUNKS_LEXICAL', label: 'Passages with the exact words' },
  { value: 'SUMMARIES', label: 'Summaries' },
];
const DEFAULT_TYPE = 'GRAPH_COMPLETION';
const ALL = 'all';

const readSession = (session: string) => engram.get('/api/v1/sessions/{session_id}', { path: { session_id: session } });

export function AskPage() {
  const { session } = useSearch({ from: '/ask' });
  const datasets = useQuery(datasetsQuery);
  const [opened, setOpened] = useState<OpenedDocument | null>(null);
  // The conversation that this page has begun keeps its answers; another one in the address is read from the server.
  const [own, setOwn] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const restart = () => {
    setOwn(null);
    setRound(round + 1);
  };
  if (datasets.isPending) return <Waiting />;
  if (datasets.isError) return <Failed error={datasets.error} onRetry={() => void datasets.refetch()} />;
  return (
    <Stack maw={860} mx="auto" gap="md">
      {datasets.data.length === 0 ? (
        <FirstSteps />
      ) : (
        <Conversation
          key={session === undefined || session === own ? round : session}
          onBegin={setOwn}
          onRestart={restart}
          onOpen={setOpened}
        />
      )}
      <DocumentDrawer opened={opened} onClose={() => setOpened(null)} />
    </Stack>
  );
}

interface ConversationProps {
  onBegin(session: string): void;
  /** An empty conversation takes the place of this one. */
  onRestart(): void;
  onOpen(document: OpenedDocument): void;
}

function Conversation({ onBegin, onRestart, onOpen }: ConversationProps) {
  const search = useSearch({ from: '/ask' });
  const navigate = useNavigate({ from: '/ask' });
  const datasets = useQuery(datasetsQuery).data ?? [];
  const progress = useQuery(progressQuery).data;
  const { turns, asking, submit } = useTurns(onBegin);
  const [begun] = useState(search.session);
  const newest = useRef<HTMLDivElement>(null);
  const { earlier, sources } = useEarlier(begun);
  const isFollowing = turns.length > 0 && turns.length + (earlier.data?.qas ?? []).length > 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn is what it waits for
  useEffect(() => {
    if (isFollowing) newest.current?.scrollIntoView({ block: 'start' });
  }, [turns.length]);
  const restart = (dataset: string | undefined) => {
    onRestart();
    void navigate({ search: (all) => ({ ...all, dataset, session: undefined }) });
  };
  // A conversation is about one dataset, whose readers may read it: another one begins another conversation.
  const bound =
    earlier.data?.dataset_id ?? turns.find(({ rated }) => rated?.session === search.session)?.rated?.dataset;
  const choose = (dataset: string | undefined) => {
    if (dataset !== undefined && bound != null && dataset !== bound) restart(dataset);
    else void navigate({ search: (all) => ({ ...all, dataset }), replace: true });
  };
  const built = datasets.some(({ id }) => progress?.[id] !== undefined);
  const isEmpty = turns.length === 0 && (earlier.data?.qas ?? []).length === 0;
  return (
    <>
      <PageTitle title="Ask">
        <History />
        {search.session === undefined ? null : (
          <Button
            variant="default"
            size="sm"
            leftSection={<IconPlus size={16} />}
            onClick={() => restart(search.dataset)}
          >
            New conversation
          </Button>
        )}
      </PageTitle>
      {earlier.isError ? <Failed error={earlier.error} /> : null}
      {isEmpty && !earlier.isPending ? (
        <Empty title="What do you want to know?">
          {built || progress === undefined
            ? 'Ask in your own words. Each answer shows the passages it rests on, and why they were found. Questions that follow may refer to the ones before.'
            : 'No dataset has been built yet. Open one and press Build, so that there is something to find.'}
        </Empty>
      ) : null}
      <Stack gap="lg" aria-live="polite">
        {(earlier.data?.qas ?? []).map((qa) => (
          <TurnView
            key={qa.qa_id}
            turn={storedTurn(qa, {
              sources: sources.data?.find(({ qa_id: id }) => id === qa.qa_id),
              session: begun ?? '',
              dataset: earlier.data?.dataset_id ?? null,
            })}
            conversation={begun}
            onOpen={onOpen}
          />
        ))}
        {turns.map((turn, at) => {
          const isNewest = at === turns.length - 1;
          return (
            <div
              key={turn.key}
              ref={isNewest ? newest : null}
              {...(isFollowing && isNewest ? { className: 'newest-turn' } : {})}
            >
              <TurnView turn={turn} conversation={search.session} onOpen={onOpen} />
            </div>
          );
        })}
      </Stack>
      <QuestionForm datasets={datasets} asking={asking} onSubmit={submit} onDataset={choose} />
    </>
  );
}

/** The stored part of a conversation, and what its answers rest on. */
function useEarlier(begun: string | undefined) {
  const earlier = useQuery({
    queryKey: ['session', begun],
    queryFn: () => (begun === undefined ? null : readSession(begun).catch(nothingIfUnknown)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const sources = useQuery({
    queryKey: ['sources', begun],
    queryFn: () => engram.get('/api/v1/recall/sources', { query: { session_id: begun ?? '' } }).catch(noneIfUnknown),
    enabled: begun !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { earlier, sources };
}

/** The questions that this page has asked, and how one is asked. */
function useTurns(onBegin: ConversationProps['onBegin']) {
  const search = useSearch({ from: '/ask' });
  const navigate = useNavigate({ from: '/ask' });
  const client = useQueryClient();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [asking, setAsking] = useState<AbortController | null>(null);
  const change = (key: string, patch: Partial<Turn>) =>
    setTurns((all) => all.map((turn) => (turn.key === key ? { ...turn, ...patch } : turn)));
  const submit = async (question: string) => {
    const session = search.session ?? newSession();
    if (search.session === undefined) {
      onBegin(session);
      void navigate({ search: (all) => ({ ...all, session }), replace: true });
    }
    const key = newSession();
    const controller = new AbortController();
    setAsking(controller);
    setTurns((all) => [
      ...all,
      { key, question, stage: 'retrieving', text: '', findings: null, error: null, rated: null },
    ]);
    try {
      const type = search.type ?? DEFAULT_TYPE;
      const request = {
        query: question,
        datasetIds: search.dataset === undefined ? [] : [search.dataset],
        searchType: type === 'AUTO' ? null : (type as SearchType),
        sessionId: session,
      };
      const listener = {
        onStage: (stage: string) => change(key, { stage }),
        onText: (written: string) => change(key, { text: written }),
      };
      const findings = await ask(request, listener, controller.signal);
      change(key, { findings, stage: null });
      change(key, { rated: await ratable(session, question, findings) });
    } catch (error) {
      const stopped = controller.signal.aborted ? new Error('You stopped this question.') : (error as Error);
      change(key, { error: stopped, stage: null });
    } finally {
      setAsking(null);
      void client.invalidateQueries({ queryKey: ['sessions'] });
    }
  };
  return { turns, asking, submit };
}

interface QuestionFormProps {
  readonly datasets: readonly DatasetDTO[];
  /** Aborts the question that is being answered; null: none is. */
  readonly asking: AbortController | null;
  onSubmit(question: string): Promise<void>;
  /** Undefined: all datasets. */
  onDataset(dataset: string | undefined): void;
}

function QuestionForm({ datasets, asking, onSubmit, onDataset }: QuestionFormProps) {
  const [text, setText] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    input.current?.focus();
  }, []);
  const submit = async () => {
    const question = text.trim();
    if (question === '' || asking !== null) return;
    setText('');
    await onSubmit(question);
    input.current?.focus();
  };
  return (
    <Paper
      withBorder
      p="sm"
      component="form"
      shadow="sm"
      style={{ position: 'sticky', bottom: 12 }}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Textarea
        ref={input}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void submit();
        }}
        placeholder="Ask a question"
        aria-label="Question"
        variant="unstyled"
        autosize
        minRows={1}
        maxRows={6}
      />
      <Group justify="space-between" mt="xs" gap="xs" wrap="nowrap">
        <Choices datasets={datasets} onDataset={onDataset} />
        {asking === null ? (
          <ActionIcon type="submit" size="lg" aria-label="Ask" disabled={text.trim() === ''}>
            <IconArrowUp size={18} />
          </ActionIcon>
        ) : (
          <ActionIcon size="lg" variant="default" aria-label="Stop" onClick={() => asking.abort()}>
            <IconX size={18} />
          </ActionIcon>
        )}
      </Group>
    </Paper>
  );
}

/** What is searched, and how. */
function Choices({ datasets, onDataset }: Pick<QuestionFormProps, 'datasets' | 'onDataset'>) {
  const search = useSearch({ from: '/ask' });
  const navigate = useNavigate({ from: '/ask' });
  return (
    <Group gap="xs" grow maw={460} flex={1}>
      <Select
        aria-label="Dataset"
        size="xs"
        data={[{ value: ALL, label: 'All datasets' }, ...datasets.map(({ id, name }) => ({ value: id, label: name }))]}
        value={search.dataset ?? ALL}
        onChange={(value) => onDataset(value === ALL || value === null ? undefined : value)}
        allowDeselect={false}
        searchable={datasets.length > 8}
        comboboxProps={{ position: 'top-start' }}
      />
      <Select
        aria-label="Kind of search"
        size="xs"
        data={TYPES}
        value={search.type ?? DEFAULT_TYPE}
        onChange={(value) =>
          void navigate({
            search: (all) => ({ ...all, type: value === DEFAULT_TYPE || value === null ? undefined : value }),
            replace: true,
          })
        }
        allowDeselect={false}
        comboboxProps={{ position: 'top-start', width: 240 }}
      />
    </Group>
  );
}

function nothingIfUnknown(error: unknown): null {
  if (error instanceof NotFound) return null;
  throw error;
}

function noneIfUnknown(error: unknown): readonly AnswerSources[] {
  return nothingIfUnknown(error) ?? [];
}

type StoredQa = Awaited<ReturnType<typeof readSession>>['qas'][number];

/** A stored question with its answer as it was when it was new. */
function storedTurn(
  qa: StoredQa,
  rest: { readonly sources: AnswerSources | undefined; readonly session: string; readonly dataset: string | null },
): Turn {
  return {
    key: qa.qa_id,
    question: qa.question ?? '',
    stage: null,
    text: qa.answer ?? '',
    error: null,
    findings: storedFindings(qa.answer, rest.sources),
    rated: { session: rest.session, dataset: rest.dataset, ids: [qa.qa_id], score: qa.feedback_score },
  };
}

function storedFindings(answer: string | null, stored: AnswerSources | undefined): readonly Finding[] | null {
  if (stored === undefined || stored.sources.length === 0) return null;
  const { dataset_id, dataset_name, sources } = stored;
  return [{ source: 'graph', text: answer ?? '', dataset_id, dataset_name, metadata: { explain: sources } }];
}

/** `crypto.randomUUID` exists on encrypted connections only. */
function newSession(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The stored answers of a question, which are what a person rates; null where none is stored. */
async function ratable(session: string, question: string, findings: readonly Finding[]): Promise<Rated | null> {
  if (!findings.some(({ kind }) => kind?.endsWith('completion'))) return null;
  // An answer of another dataset than that of the conversation is kept in the default session of that dataset.
  const elsewhere = findings.flatMap(({ dataset_id: id }) => (id ? [`default_session_${id}`] : []));
  for (const name of new Set([session, ...elsewhere])) {
    const detail = await readSession(name).catch(() => null);
    const stored = detail?.qas.filter((qa) => qa.question === question).slice(-findings.length) ?? [];
    if (detail === null || stored.length === 0) continue;
    return { session: name, dataset: detail.dataset_id, ids: stored.map((qa) => qa.qa_id), score: null };
  }
  return null;
}
