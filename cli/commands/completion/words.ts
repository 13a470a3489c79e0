/** Words that may follow a command. */
export interface Place {
  /** The words before, such as `stack init`; empty for the program itself. */
  path: string;
  commands: Word[];
  options: Word[];
  /** Values that its argument may have. */
  values: string[];
}

export interface Word {
  text: string;
  description: string;
}

/** Options whose value is the name of a stack, a file or a folder. */
export interface Values {
  stacks: string[];
  files: string[];
  /** Options with a fixed list of values, by the option. */
  choices: Map<string, string[]>;
  /** Those with any other value. */
  others: string[];
}
