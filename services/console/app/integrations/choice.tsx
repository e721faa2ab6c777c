import { Button, Checkbox, Group, Modal, ScrollArea, Stack, Switch, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Failed, Waiting } from '../states.tsx';

/** What is chosen of the options; null: everything, also what comes later. */
export type Chosen = readonly string[] | null;

interface Choice {
  readonly options: readonly { readonly id: string; readonly name: string; readonly description?: string | null }[];
  readonly selected: Chosen;
}

interface ChoiceDialogProps {
  readonly title: string;
  readonly hint?: string;
  readonly found: UseQueryResult<Choice>;
  /** Label of the switch for everything; null: there is no choice of everything. */
  readonly everything: string | null;
  /** Something has to be chosen. */
  readonly needsOne?: boolean;
  /** Label of the button. */
  readonly action: string;
  onClose(): void;
  onSave(selected: Chosen): void;
}

/** A list to choose from, or everything. */
export function ChoiceDialog(props: ChoiceDialogProps) {
  const { title, hint, found, everything, needsOne = false, action, onClose, onSave } = props;
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const selected = chosen === undefined ? (found.data?.selected ?? null) : chosen;
  const options = found.data?.options ?? [];
  const toggle = (id: string) => {
    const now = selected ?? [];
    setChosen(now.includes(id) ? now.filter((one) => one !== id) : [...now, id]);
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {found.isPending ? <Waiting /> : null}
      {found.isError ? <Failed error={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.isSuccess ? (
        <Stack>
          {hint === undefined ? null : (
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          )}
          {everything === null ? null : (
            <Switch
              label={everything}
              checked={selected === null}
              onChange={({ currentTarget }) => setChosen(currentTarget.checked ? null : options.map(({ id }) => id))}
            />
          )}
          {selected === null ? null : (
            <ScrollArea.Autosize mah={320}>
              <Stack gap="xs">
                {options.map(({ id, name, description }) => (
                  <Checkbox
                    key={id}
                    label={name}
                    description={description}
                    checked={selected.includes(id)}
                    onChange={() => toggle(id)}
                  />
                ))}
              </Stack>
            </ScrollArea.Autosize>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button disabled={needsOne && selected?.length === 0} onClick={() => onSave(selected)}>
              {action}
            </Button>
          </Group>
        </Stack>
      ) : null}
    </Modal>
  );
}
