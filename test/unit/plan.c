/* Which objects a batch touches, and which requests want what of each. */
#include "test.h"

#include "engine/job.h"

enum { LENGTH = 10, CHUNK = 4, MANY = 300000 };

static zlgi_source source_of(void)
{
    zlgi_source source = {.prefix = "", .item = 1};
    source.grid.rank = 1;
    source.grid.axis[0] = zlgi_grid_regular(LENGTH, CHUNK);
    return source;
}

/* Two arrays in turn and in halves: objects come by array, then by place in the grid, and
 * each has the requests that want it in the order they were given. */
static void test_requests_are_gathered_by_object(void **state)
{
    (void)state;
    zlgi_source sources[2] = {source_of(), source_of()};
    zlg_axis low = {.start = 1, .step = 1, .count = 5}; /* chunks 0 and 1 */
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &low};
    const int64_t list[] = {9, 2, 9, 8};
    const int64_t *const coordinates[] = {list};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 1, .coordinates = coordinates, .n_points = 4};
    uint8_t memory[16];
    const zlgi_request requests[] = {
        {.source = &sources[1], .selection = &box, .memory = memory},
        {.source = &sources[0], .selection = &points, .memory = memory},
        {.source = &sources[1], .selection = &points, .memory = memory},
        {.source = &sources[0], .selection = &box, .memory = memory}};
    static const struct {
        int source;
        int64_t object;
        uint32_t requests[2];
        size_t n;
    } expected[] = {{1, 0, {0, 2}, 2}, {1, 1, {0}, 1}, {1, 2, {2}, 1},
                    {0, 0, {1, 3}, 2}, {0, 1, {3}, 1}, {0, 2, {1}, 1}};
    zlgi_plan plan;
    assert_int_equal(zlgi_plan_make(&plan, NULL, &zlgi_default_alloc, requests, 4, NULL),
                     ZLG_OK);
    assert_int_equal(plan.n_objects, ZLGI_COUNT(expected));
    for (uint64_t k = 0; k < plan.n_objects; k++) {
        zlgi_planned planned;
        zlgi_plan_object(&plan, k, &planned);
        assert_ptr_equal(planned.source, &sources[expected[k].source]);
        assert_int_equal(planned.coordinates[0], expected[k].object);
        assert_int_equal(planned.n_records, expected[k].n);
        for (size_t i = 0; i < expected[k].n; i++)
            assert_int_equal(planned.records[i].request, expected[k].requests[i]);
    }
    zlgi_plan_reset(&plan);
}

/* Many requests of one array behind many of another: this must not take minutes. */
static void test_many_requests_of_several_arrays(void **state)
{
    (void)state;
    zlgi_source sources[3] = {source_of(), source_of(), source_of()};
    zlg_axis axis = {.start = 9, .step = 1, .count = 1};
    zlg_selection box = {.kind = ZLG_BOX, .rank = 1, .axes = &axis};
    zlgi_request *requests = calloc(MANY, sizeof *requests);
    uint8_t memory;
    for (size_t i = 0; i < MANY; i++)
        requests[i] = (zlgi_request){
            .source = &sources[i * 3 / MANY], .selection = &box, .memory = &memory};
    zlgi_plan plan;
    zlgi_planned planned;
    test_heap heap;
    test_heap_init(&heap);
    assert_int_equal(zlgi_plan_make(&plan, NULL, &heap.alloc, requests, MANY, NULL),
                     ZLG_OK);
    assert_true(heap.peak_bytes < (size_t)400 * MANY);
    assert_int_equal(plan.n_objects, 3);
    for (uint64_t k = 0; k < 3; k++) {
        zlgi_plan_object(&plan, k, &planned);
        assert_ptr_equal(planned.source, &sources[k]);
        assert_int_equal(planned.n_records, MANY / 3);
    }
    zlgi_plan_reset(&plan);
    free(requests);
}

/* Each point has an object of its own: 8 bytes to sort it, a record and a place in the list
 * of objects. */
static void test_points_of_many_objects(void **state)
{
    (void)state;
    zlgi_source source = source_of();
    source.grid.axis[0] = zlgi_grid_regular(MANY, 1);
    int64_t *list = malloc(MANY * sizeof *list);
    const int64_t *const coordinates[] = {list};
    zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 1, .coordinates = coordinates, .n_points = MANY};
    for (int64_t i = 0; i < MANY; i++)
        list[i] = i * 7 % MANY; /* each once */
    const zlgi_request request = {
        .source = &source, .selection = &points, .memory = (uint8_t *)list};
    zlgi_plan plan;
    zlgi_planned planned;
    test_heap heap;
    test_heap_init(&heap);
    assert_int_equal(zlgi_plan_make(&plan, NULL, &heap.alloc, &request, 1, NULL), ZLG_OK);
    assert_in_range(heap.peak_bytes, 8 * MANY, (8 + 40) * MANY + 8192);
    assert_int_equal(plan.n_objects, MANY);
    for (uint64_t k = 0; k < MANY; k++) {
        zlgi_plan_object(&plan, k, &planned);
        assert_int_equal(planned.n_records, 1);
        assert_int_equal(planned.records->n_ids, 1);
        int64_t id = zlgi_plan_use(&plan, 0)->ids[planned.records->first_id];
        assert_int_equal(list[id], planned.coordinates[0]);
    }
    zlgi_plan_reset(&plan);
    free(list);
}

/* A mask names the objects in which it selects something, and no others. */
static void test_a_mask_alone_and_in_a_batch(void **state)
{
    (void)state;
    zlgi_source source = source_of();
    const uint8_t bytes[LENGTH] = {0, 0, 3, 0, 0, 0, 0, 0, 0, 1}, none[LENGTH] = {0};
    zlg_selection masks[2] = {{.kind = ZLG_MASK, .rank = 1, .mask = bytes},
                              {.kind = ZLG_MASK, .rank = 1, .mask = none}};
    uint8_t memory[2];
    zlgi_request requests[2];
    for (int i = 0; i < 2; i++)
        requests[i] =
            (zlgi_request){.source = &source, .selection = &masks[i], .memory = memory};
    for (size_t n = 1; n <= 2; n++) {
        zlgi_plan plan;
        zlgi_planned planned;
        assert_int_equal(
            zlgi_plan_make(&plan, NULL, &zlgi_default_alloc, requests, n, NULL), ZLG_OK);
        assert_int_equal(plan.n_objects, 2);
        for (uint64_t k = 0; k < 2; k++) {
            zlgi_plan_object(&plan, k, &planned);
            assert_int_equal(planned.coordinates[0], 2 * k);
            assert_int_equal(planned.n_records, 1);
        }
        zlgi_plan_reset(&plan);
    }
}

/* Boxes of many objects, requests without end, points, and putting them in order. */
static void test_that_nobody_waits_for(void **state)
{
    (void)state;
    zlgi_source sources[2] = {source_of(), source_of()};
    zlg_axis all = {.step = 1, .count = MANY}, one = {.step = 1, .count = 1};
    static int64_t list[MANY];
    const int64_t *const lists[1] = {list};
    const zlg_selection selections[3] = {
        {.kind = ZLG_BOX, .rank = 1, .axes = &all},
        {.kind = ZLG_BOX, .rank = 1, .axes = &one},
        {.kind = ZLG_POINTS, .rank = 1, .coordinates = lists, .n_points = MANY}};
    zlgi_request *requests = calloc(MANY, sizeof *requests);
    static uint8_t memory[MANY];
    sources[0].grid.axis[0] = zlgi_grid_regular(MANY, 1);
    for (int k = 0; k < 3; k++) {
        size_t n = k == 1 ? MANY : 2;
        for (size_t i = 0; i < n; i++)
            requests[i] = (zlgi_request){
                .source = &sources[k % 2], .selection = &selections[k], .memory = memory};
        for (int is_cancelled = 0; is_cancelled < 2; is_cancelled++) {
            zlg_call call = ZLG_CALL_INIT;
            call.cancel = &is_cancelled;
            zlg_error err = {0};
            zlgi_job job;
            zlgi_job_init(&job, NULL, &call);
            zlg_status status =
                zlgi_plan_make(&job.plan, &job, &zlgi_default_alloc, requests, n, &err);
            assert_int_equal(status, is_cancelled ? ZLG_CANCELLED : ZLG_OK);
            assert_int_equal(err.status, status);
            zlgi_job_reset(&job);
        }
    }
    free(requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_gathered_by_object),
        cmocka_unit_test(test_that_nobody_waits_for),
        cmocka_unit_test(test_many_requests_of_several_arrays),
        cmocka_unit_test(test_points_of_many_objects),
        cmocka_unit_test(test_a_mask_alone_and_in_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
