import { Badge, Group, Paper, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { NotFound } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { ago, count, plural, when } from '../format.ts';
import { IconMessageQuestion } from '../icons.ts';
import { Learned } from '../improve/learned.tsx';
import { datasetsQuery, useMe } from '../queries.ts';
import { LinkButton, PageTitle, Section } from '../shell.tsx';
import { Empty, Failed, Waiting } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';

export function SessionPage() {
  const { session } = useParams({ from: '/sessions/$session' });
  const me = useMe();
  const datasets = useQuery(datasetsQuery).data ?? [];
  const detail = useQuery({
    queryKey: ['session-detail', session],
    queryFn: () => engram.get('/api/v1/sessions/{session_id}', { path: { session_id: session } }),
  });
  if (detail.isPending) return <Waiting />;
  if (detail.error instanceof NotFound) {
    return (
      <Empty title="There is no such session" action={<LinkButton to="/sessions">All sessions</LinkButton>}>
        It has expired, was deleted, or was not shared with you.
      </Empty>
    );
  }
  if (detail.isError) return <Failed error={detail.error} onRetry={() => void detail.refetch()} />;
  const { data } = detail;
  const dataset = datasets.find(({ id }) => id === data.dataset_id);
  return (
    <Stack maw={860}>
      <div>
        <PageTitle title={data.label ?? 'Session'}>
          {data.user_id === me?.id ? (
            <LinkButton
              to="/ask"
              search={{ session: data.session_id, dataset: dataset?.id }}
              variant="default"
              leftSection={<IconMessageQuestion size={16} />}
            >
              Go on with it
            </LinkButton>
          ) : null}
        </PageTitle>
        <Text size="sm" c="dimmed">
          {plural(data.qas.length, 'question')} and {plural(data.traces.length, 'step')}
          {dataset === undefined ? '' : ` on ${dataset.name}`} · begun {when(data.started_at)} · last activity{' '}
          {ago(data.last_activity_at)} · {count(data.tokens_in + data.tokens_out)} tokens
          {data.last_model === null ? '' : ` with ${data.last_model}`}
        </Text>
      </div>
      {data.qas.length + data.traces.length === 0 ? (
        <Empty title="Nothing is left of it">Its entries have expired.</Empty>
      ) : null}
      {data.qas.map((qa) => (
        <Paper key={qa.qa_id} withBorder p="md" component="article" aria-label={qa.question ?? ''}>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Text fw={600} className="answer">
              {qa.question}
            </Text>
            <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
              {ago(qa.time)}
            </Text>
          </Group>
          <Text size="sm" className="answer" mt={4}>
            {qa.answer}
          </Text>
          <Group gap="xs" mt={qa.feedback_score === null ? 0 : 'xs'}>
            {qa.feedback_score === null ? null : (
              <Badge
                color={qa.feedback_score > 3 ? 'green' : 'red'}
                variant="outline"
                tt="none"
                c="var(--mantine-color-text)"
              >
                Rated {qa.feedback_score} of 5
              </Badge>
            )}
            {hasLearned(qa.memify_metadata) ? <StateBadge color="indigo">Learned from</StateBadge> : null}
            {qa.feedback_text ? <Text size="sm">“{qa.feedback_text}”</Text> : null}
          </Group>
        </Paper>
      ))}
      <Learned dataset={data.dataset_id} sessions={[session]} />
      {data.traces.length === 0 ? null : (
        <Section title="Steps">
          <DataTable label="Steps of the agent" minWidth={420} columns={['Function', 'State', 'Asked for']}>
            {data.traces.map((trace) => (
              <Table.Tr key={trace.trace_id}>
                <Table.Td>{trace.origin_function}</Table.Td>
                <Table.Td>{trace.error_message ?? trace.status}</Table.Td>
                <Table.Td>{trace.memory_query ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </Section>
      )}
    </Stack>
  );
}

/** Marks of improve, of which this one says that the rating has been applied. */
const hasLearned = (marks: unknown): boolean =>
  (marks as { readonly feedback_weights_applied?: unknown } | null)?.feedback_weights_applied === true;
