import { Anchor, Pagination, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { engram } from '../api.ts';
import { count } from '../format.ts';
import { datasetsQuery, RANGES, type Range } from '../queries.ts';
import { LinkButton, PageTitle } from '../shell.tsx';
import { Empty, Failed, Waiting } from '../states.tsx';
import { Ago, DataTable } from '../table.tsx';

const PAGE = 25;

/** Sessions of people and agents: each a conversation that can be read again and gone on with. */
export function SessionsPage() {
  const [range, setRange] = useState<Range>('30d');
  const [at, setAt] = useState(1);
  const datasets = useQuery(datasetsQuery).data ?? [];
  const sessions = useQuery({
    queryKey: ['sessions', range, at],
    queryFn: () =>
      engram.get('/api/v1/sessions/with-agent-info', {
        query: { range, limit: PAGE, offset: (at - 1) * PAGE, labels: true },
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageTitle title="Sessions">
        <SegmentedControl
          size="xs"
          aria-label="Time"
          data={RANGES}
          value={range}
          onChange={(value) => {
            setRange(value as Range);
            setAt(1);
          }}
        />
      </PageTitle>
      {sessions.isPending ? <Waiting /> : null}
      {sessions.isError ? <Failed error={sessions.error} onRetry={() => void sessions.refetch()} /> : null}
      {sessions.data?.total === 0 ? (
        <Empty title="No sessions in this time" action={<LinkButton to="/ask">Ask a question</LinkButton>}>
          Questions that belong together are a session. Engram remembers what was said in it, and learns from ratings.
        </Empty>
      ) : null}
      {sessions.data !== undefined && sessions.data.total > 0 ? (
        <Stack>
          <DataTable
            label="Sessions"
            minWidth={320}
            columns={[
              'Session',
              { head: 'Dataset', visibleFrom: 'sm' },
              'Last activity',
              { head: 'Tokens', ta: 'right', visibleFrom: 'sm' },
            ]}
            highlightOnHover
          >
            {sessions.data.sessions.map((session) => (
              <Table.Tr key={`${session.user_id} ${session.session_id}`}>
                <Table.Td maw={260}>
                  <Anchor
                    component={Link}
                    to={`/sessions/${encodeURIComponent(session.session_id)}`}
                    className="clip"
                    display="block"
                  >
                    {session.agent_session_name ?? session.label ?? session.session_id}
                  </Anchor>
                  {session.agent_type === 'unknown' ? null : (
                    <Text size="xs" c="dimmed">
                      {session.agent_type}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  {datasets.find(({ id }) => id === session.dataset_id)?.name ?? '–'}
                </Table.Td>
                <Table.Td>
                  <Ago time={session.last_activity_at} />
                </Table.Td>
                <Table.Td ta="right" visibleFrom="sm">
                  {count(session.tokens_in + session.tokens_out)}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
          {sessions.data.total > PAGE ? (
            <Pagination
              total={Math.ceil(sessions.data.total / PAGE)}
              value={at}
              onChange={setAt}
              getControlProps={(control) => ({ 'aria-label': `${control} page` })}
            />
          ) : null}
        </Stack>
      ) : null}
    </>
  );
}
