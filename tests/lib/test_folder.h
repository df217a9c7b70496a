/* test_folder.h -- a folder for a test's files, and the bytes of files. */
#ifndef WEFT_TEST_FOLDER_H
#define WEFT_TEST_FOLDER_H

#include "weft_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char test_folder[64];

/* cmocka's group setup and teardown. */
static inline int test_folder_begin(void **state)
{
    (void)state;
    strcpy(test_folder, "/tmp/weft-test-XXXXXX");
    return mkdtemp(test_folder) == NULL;
}

/* "FOLDER/name". Borrowed until the fourth next call. */
static inline const char *test_path(const char *name)
{
    static char path[4][400];
    static int  turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder, name);
    return path[turn];
}

static inline int test_folder_end(void **state)
{
    (void)state;
    DIR *const folder = opendir(test_folder);
    if (folder == NULL)
        return 1;
    for (struct dirent *file; (file = readdir(folder)) != NULL;)
        unlink(test_path(file->d_name)); /* not . and .., which are folders */
    closedir(folder);
    return rmdir(test_folder);
}

static inline int test_files(void)
{
    int        n = 0;
    DIR *const folder = opendir(test_folder);
    assert_non_null(folder);
    for (struct dirent *file; (file = readdir(folder)) != NULL;)
        n += file->d_name[0] != '.';
    closedir(folder);
    return n;
}

static inline void test_write(const char *path, const void *bytes, size_t n)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(n, fwrite(bytes, 1, n, file));
    assert_int_equal(0, fclose(file));
}

/* All of a file as text. Borrowed until the next call. */
static inline const char *test_read(const char *path)
{
    static char text[20000];
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

#endif
