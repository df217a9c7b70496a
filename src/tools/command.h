/* command.h -- the commands of the program `weft`: one file and one line each. */
#ifndef WEFT__COMMAND_H
#define WEFT__COMMAND_H

/* Called after weft_start() with the command as argv[0]; returns the exit status. */
typedef int command(int argc, char **argv);

command bench_command;

#endif
