import { Accordion, Badge, Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.ts';
import { usePermitted } from '../queries.ts';
import { complain, Empty, Failed, say, Waiting } from '../states.tsx';

interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly is_active: boolean;
  readonly procedure?: string;
}

const EXAMPLE =
  '---\nname: release-notes\ndescription: How we write release notes\n---\n1. Read the commits since the last tag.\n2. Group them by area.';

/** How things are done: procedures that agents look up. */
export function Skills({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const mayDelete = usePermitted('delete').has(dataset);
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const skills = useQuery({
    queryKey: ['skills', dataset],
    queryFn: () => call<Skill[]>('/skills', { query: { dataset_id: dataset, include_inactive: true, limit: 200 } }),
  });
  const changed = () => client.invalidateQueries({ queryKey: ['skills', dataset] });
  const add = async () => {
    setSending(true);
    try {
      await call('/skills', { method: 'POST', body: { dataset_id: dataset, skills_text: text } });
      setText('');
      say('The skill was added.');
      await changed();
    } catch (error) {
      complain(error);
    } finally {
      setSending(false);
    }
  };
  const remove = (skill: Skill) =>
    modals.openConfirmModal({
      title: `Delete the skill ${skill.name}?`,
      children: <Text size="sm">Agents find it no longer.</Text>,
      labels: { confirm: 'Delete the skill', cancel: 'Cancel' },
      confirmProps: { color: 'red.8' },
      closeButtonProps: { 'aria-label': 'Close' },
      onConfirm: async () => {
        try {
          await call(`/skills/${skill.id}`, { method: 'DELETE', query: { dataset_id: dataset } });
          say('The skill was deleted.');
        } catch (error) {
          complain(error);
        }
        await changed();
      },
    });
  if (skills.isPending) return <Waiting />;
  if (skills.isError) return <Failed error={skills.error} onRetry={() => void skills.refetch()} />;
  return (
    <Stack>
      {skills.data.length === 0 ? (
        <Empty title="No skills">
          A skill says how something is done. Agents find it by its description and load its steps.
        </Empty>
      ) : (
        <Accordion variant="separated" chevronPosition="left">
          {skills.data.map((skill) => (
            <Accordion.Item key={skill.id} value={skill.id}>
              <Accordion.Control>
                <Group gap="xs">
                  <Text fw={500}>{skill.name}</Text>
                  {skill.is_active ? null : (
                    <Badge color="gray" variant="outline" tt="none" c="var(--mantine-color-text)">
                      Inactive
                    </Badge>
                  )}
                </Group>
                <Text size="sm" c="dimmed">
                  {skill.description}
                </Text>
              </Accordion.Control>
              <Accordion.Panel>
                <Procedure dataset={dataset} id={skill.id} />
                {mayDelete ? (
                  <Button size="compact-sm" variant="default" mt="sm" onClick={() => remove(skill)}>
                    Delete the skill
                  </Button>
                ) : null}
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
      {mayWrite ? (
        <Stack gap="xs" align="flex-start">
          <Textarea
            w="100%"
            label="New skill"
            description="The text of a SKILL.md: name and description, then the steps"
            placeholder={EXAMPLE}
            autosize
            minRows={5}
            maxRows={16}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button disabled={text.trim() === ''} loading={isSending} onClick={() => void add()}>
            Add the skill
          </Button>
        </Stack>
      ) : null}
    </Stack>
  );
}

/** The steps are read when somebody opens the skill. */
function Procedure({ dataset, id }: { readonly dataset: string; readonly id: string }) {
  const skill = useQuery({
    queryKey: ['skills', dataset, id],
    queryFn: () => call<Skill>(`/skills/${id}`, { query: { dataset_id: dataset } }),
  });
  if (skill.isPending) return <Waiting />;
  if (skill.isError) return <Failed error={skill.error} />;
  return (
    <Text size="sm" className="document">
      {skill.data.procedure}
    </Text>
  );
}
