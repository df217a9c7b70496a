/* options.c -- a command line read by getopt_long, from one list that also makes --help. */
#define _GNU_SOURCE /* getopt_long */
#include "weft/program.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Products of two numbers from the command line and of ranks fit an int64_t. */
static const int64_t MOST = 1000000000;

enum { MAX_OPTIONS = 60, GO_ON = -1, HELP = 1000, LONG_ONLY = 1001 };

typedef struct {
    const char        *program, *about;
    const weft_option *option;
    int                n;
    bool               speaks; /* rank 0 prints; the others decide the same in silence */
} command_line;

/* ---- help ------------------------------------------------------------------ */

static void print_default(const weft_option *o)
{
    switch (o->kind) {
    case WEFT_OPTION_FLAG:
        break;
    case WEFT_OPTION_COUNT:
    case WEFT_OPTION_INT:
    case WEFT_OPTION_FEW:
        printf(" (%" PRId64 ")", *(const int64_t *)o->to);
        break;
    case WEFT_OPTION_REAL:
        printf(" (%g)", *(const double *)o->to);
        break;
    case WEFT_OPTION_TEXT:
    case WEFT_OPTION_WORD:
        if (*(const char *const *)o->to != NULL)
            printf(" (%s)", *(const char *const *)o->to);
        break;
    }
}

static void print_option(const weft_option *o)
{
    char left[40];
    char letter[5] = "    ";

    if (o->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s %s", letter, o->name,
             o->argument != NULL ? o->argument : "");
    printf("  %-26s %s", left, o->help);
    print_default(o);
    printf("\n");
}

static int help(const command_line *line)
{
    if (line->speaks) {
        printf("usage: [mpiexec -n RANKS] %s [options]\n\n%s\n\n", line->program, line->about);
        for (int i = 0; i < line->n; i++)
            print_option(&line->option[i]);
        printf("  -h, --help                 this text\n");
        fflush(stdout);
    }
    return 0;
}

/* ---- values ----------------------------------------------------------------- */

static bool read_int(const char *text, int64_t least, int64_t most, int64_t *to)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);

    if (errno != 0 || end == text || *end != '\0' || value < least || value > most)
        return false;
    *to = value;
    return true;
}

static bool read_real(const char *text, double *to)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);

    if (errno != 0 || end == text || *end != '\0' || value != value)
        return false;
    *to = value;
    return true;
}

/* Whether text is one of "a|b|c". */
static bool is_word(const char *text, const char *words)
{
    const size_t length = strlen(text);

    for (const char *at = words; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (length > 0 && strncmp(at, text, length) == 0 &&
            (at[length] == '|' || at[length] == '\0'))
            return true;
    }
    return false;
}

static bool read_value(const weft_option *o, const char *text)
{
    switch (o->kind) {
    case WEFT_OPTION_FLAG:
        *(bool *)o->to = true;
        return true;
    case WEFT_OPTION_COUNT:
        return read_int(text, 1, MOST, o->to);
    case WEFT_OPTION_INT:
        return read_int(text, 0, MOST, o->to);
    case WEFT_OPTION_FEW:
        return read_int(text, 1, 1024, o->to);
    case WEFT_OPTION_REAL:
        return read_real(text, o->to);
    case WEFT_OPTION_WORD:
        if (!is_word(text, o->argument))
            return false;
        *(const char **)o->to = text;
        return true;
    case WEFT_OPTION_TEXT:
        *(const char **)o->to = text;
        return true;
    }
    return false;
}

static const char *wanted(const weft_option *o)
{
    static const char *const text[] = {
        [WEFT_OPTION_FLAG] = "nothing",
        [WEFT_OPTION_COUNT] = "a whole number from 1 to 1000000000",
        [WEFT_OPTION_INT] = "a whole number from 0 to 1000000000",
        [WEFT_OPTION_FEW] = "a whole number from 1 to 1024",
        [WEFT_OPTION_REAL] = "a number",
        [WEFT_OPTION_TEXT] = "a text",
    };
    return o->kind == WEFT_OPTION_WORD ? o->argument : text[o->kind];
}

/* ---- the line ---------------------------------------------------------------- */

static int complain(const command_line *line, const char *what, const char *about)
{
    if (line->speaks) {
        fprintf(stderr, "%s: %s%s; see %s --help\n", line->program, what, about, line->program);
        fflush(stderr);
    }
    return 2;
}

static int wrong_value(const command_line *line, const weft_option *o, const char *text)
{
    char what[300];
    snprintf(what, sizeof what, "--%s wants %s, not '%.200s'", o->name, wanted(o), text);
    return complain(line, what, "");
}

static const weft_option *find(const command_line *line, int code)
{
    for (int i = 0; i < line->n; i++)
        if (code == LONG_ONLY + i ||
            (line->option[i].letter != 0 && code == line->option[i].letter))
            return &line->option[i];
    return NULL;
}

/* What getopt_long did not take: an option unknown, without its argument, or
 * with one it does not have. */
static int unknown(const command_line *line, int code, char **argv)
{
    char letter[3] = { '-', (char)optopt, '\0' };

    if (code == ':')
        return complain(line, "an argument is missing after ", argv[optind - 1]);
    if (optopt > 0 && optopt < HELP && isprint(optopt))
        return complain(line, "unknown option ", letter);
    return complain(line, "unknown option, or one too short or with an argument it has not: ",
                    argv[optind - 1]);
}

static void tables(const command_line *line, char *letters, struct option *longs)
{
    *letters++ = ':';
    *letters++ = 'h';
    for (int i = 0; i < line->n; i++) {
        const weft_option *o = &line->option[i];
        const bool         takes = o->kind != WEFT_OPTION_FLAG;

        longs[i] = (struct option){ o->name, takes ? required_argument : no_argument, NULL,
                                    LONG_ONLY + i };
        if (o->letter != 0) {
            *letters++ = o->letter;
            if (takes)
                *letters++ = ':';
        }
    }
    longs[line->n] = (struct option){ "help", no_argument, NULL, HELP };
    longs[line->n + 1] = (struct option){ NULL, 0, NULL, 0 };
    *letters = '\0';
}

static int parse(const command_line *line, int argc, char **argv)
{
    char          letters[2 * MAX_OPTIONS + 4];
    struct option longs[MAX_OPTIONS + 2];
    int           code;

    tables(line, letters, longs);
    opterr = 0;
    optind = 1;
    while ((code = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const weft_option *o = find(line, code);
        if (code == HELP || (code == 'h' && o == NULL))
            return help(line);
        if (o == NULL)
            return unknown(line, code, argv);
        if (!read_value(o, optarg))
            return wrong_value(line, o, optarg);
    }
    return optind < argc ? complain(line, "unexpected argument: ", argv[optind]) : GO_ON;
}

static bool is_rank_0(void)
{
    int rank = 0, up = 0;
    MPI_Initialized(&up);
    if (up)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

int weft_options_parse(int argc, char **argv, const char *about, const weft_option *option)
{
    const char *const slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    command_line      line = { .program = slash != NULL ? slash + 1 : (argc > 0 ? argv[0] : "weft"),
                               .about = about,
                               .option = option,
                               .speaks = is_rank_0() };

    while (line.n < MAX_OPTIONS && option[line.n].name != NULL)
        line.n++;
    return parse(&line, argc, argv);
}
